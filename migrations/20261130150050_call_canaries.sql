-- The bank server looks for other customers' canaries in what a tool was given and in what it is about to answer.
--
-- The hashing key stays with the database: the bank server sends runs of ten characters, in the transaction of the call,
-- to the bank that the answer came from anyway. What it finds it may only write down.
SET LOCAL ROLE cs_owner;

-- Whether one of these runs is of another customer's code. NULL without a customer to compare with, or for too many runs:
-- the caller then answers nothing.
CREATE FUNCTION bank.canary_in_call(runs text[]) RETURNS boolean
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  me uuid := bank.current_customer();
BEGIN
  IF me IS NULL OR pg_catalog.cardinality(runs) > 20000 THEN
    RETURN NULL;
  END IF;
  RETURN EXISTS (
    SELECT FROM bank.canary_key k, pg_catalog.unnest(runs) AS run, bank.canary_run r
     WHERE r.run_hash = pg_catalog.sha256(k.key || pg_catalog.convert_to(run, 'UTF8')) AND r.customer_id <> me
       AND NOT EXISTS (SELECT FROM bank.canary_run mine WHERE mine.customer_id = me AND mine.run_hash = r.run_hash));
END
$$;
GRANT EXECUTE ON FUNCTION bank.canary_in_call(text[]) TO bank_mcp;

-- That it happened, in which tool and on which side. No text.
CREATE TABLE bank.call_alarm (
  customer_id uuid NOT NULL REFERENCES bank.customer,
  alarm_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  tool text NOT NULL CONSTRAINT call_alarm_tool CHECK (tool ~ '^[a-z_]{1,64}$'),
  side text NOT NULL CONSTRAINT call_alarm_side CHECK (side IN ('arguments', 'result')),
  recorded_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  PRIMARY KEY (customer_id, alarm_id)
);
CREATE INDEX call_alarm_by_time ON bank.call_alarm (recorded_at DESC);
CREATE TRIGGER call_alarm_is_append_only BEFORE UPDATE OR DELETE ON bank.call_alarm FOR EACH ROW EXECUTE FUNCTION bank.refuse_change();
ALTER TABLE bank.call_alarm ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.call_alarm FORCE ROW LEVEL SECURITY;
GRANT INSERT (customer_id, alarm_id, conversation_id, tool, side) ON bank.call_alarm TO bank_mcp;
CREATE POLICY bank_raises ON bank.call_alarm FOR INSERT TO bank_mcp
  WITH CHECK (customer_id = (SELECT bank.current_customer()) AND conversation_id = (SELECT bank.current_conversation()));
GRANT SELECT ON bank.call_alarm TO dashboard;
CREATE POLICY operators_read ON bank.call_alarm FOR SELECT TO dashboard USING ((SELECT bank.current_operator()) IS NOT NULL);
RESET ROLE;

-- A role may be given a function only where it may create one; right after, it may not.
GRANT CREATE ON SCHEMA bank TO cs_lookup;
ALTER FUNCTION bank.canary_in_call(text[]) OWNER TO cs_lookup;
REVOKE CREATE ON SCHEMA bank FROM cs_lookup;
