-- Whose name the accounts of payees at other banks are in: asked of a service beforehand, stored with its time, and read under the lock.
-- Nothing is asked while a lock is held, and an answer that is too old counts as none.
SET LOCAL ROLE cs_owner;

ALTER TABLE bank.setting
  -- For this long the answer of a name check counts.
  ADD COLUMN name_check_seconds integer NOT NULL DEFAULT 86400
    CONSTRAINT name_check_seconds_range CHECK (name_check_seconds BETWEEN 60 AND 604800);

CREATE TABLE bank.name_check (
  customer_id uuid NOT NULL,
  payee_id uuid NOT NULL,
  result text NOT NULL CONSTRAINT name_check_result CHECK (result IN ('match', 'close', 'no_match', 'unavailable')),
  -- The holder's name as the other bank wrote it, where it is nearly the payee's.
  holder text CONSTRAINT name_check_holder_length CHECK (length(holder) BETWEEN 1 AND 140),
  checked_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  PRIMARY KEY (customer_id, payee_id),
  FOREIGN KEY (customer_id, payee_id) REFERENCES bank.payee,
  CONSTRAINT a_near_name_is_told CHECK ((result = 'close') = (holder IS NOT NULL))
);
ALTER TABLE bank.name_check ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.name_check FORCE ROW LEVEL SECURITY;
CREATE POLICY executor_acts ON bank.name_check FOR ALL TO cs_executor USING (true) WITH CHECK (true);
CREATE POLICY own_rows ON bank.name_check FOR SELECT TO panel USING (customer_id = (SELECT bank.current_customer()));
GRANT SELECT ON bank.name_check TO panel;
GRANT SELECT, INSERT, UPDATE (result, holder, checked_at) ON bank.name_check TO cs_executor;
GRANT USAGE ON SCHEMA bank TO checker;
GRANT EXECUTE ON FUNCTION bank.bank_clock() TO checker;

RESET ROLE;
