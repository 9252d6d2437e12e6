-- What a customer has, and the double-entry ledger.
--
-- Entries are append-only and sum to zero per transfer and currency, and the database says so at COMMIT. Balances and counters
-- stand in tables of their own that only the execution owner writes.
SET LOCAL ROLE cs_owner;

CREATE TABLE bank.account (
  customer_id uuid NOT NULL REFERENCES bank.customer,
  account_id uuid NOT NULL,
  kind text NOT NULL CONSTRAINT account_kind CHECK (kind IN ('current', 'savings', 'travel', 'reserve')),
  label text NOT NULL CONSTRAINT account_label_length CHECK (length(label) BETWEEN 1 AND 70),
  iban text NOT NULL CONSTRAINT account_iban_form CHECK (iban ~ '^[A-Z]{2}[0-9]{2}[A-Z0-9]{8,30}$'),
  currency text NOT NULL CONSTRAINT account_currency CHECK (currency IN ('EUR', 'GBP', 'USD', 'CHF', 'PLN', 'JPY', 'KWD')),
  -- The account that money leaves when the customer names none. The customer's setting, never a model's choice.
  is_default boolean NOT NULL DEFAULT false,
  opened_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  PRIMARY KEY (customer_id, account_id)
);
CREATE UNIQUE INDEX account_one_default ON bank.account (customer_id) WHERE is_default;

-- Which account of this bank an IBAN is. Only the execution owner reads it: whether a number is somebody's account here
-- is nobody's business.
CREATE TABLE bank.account_directory (
  iban text PRIMARY KEY,
  customer_id uuid NOT NULL,
  account_id uuid NOT NULL,
  FOREIGN KEY (customer_id, account_id) REFERENCES bank.account
);

CREATE TABLE bank.account_balance (
  customer_id uuid NOT NULL,
  account_id uuid NOT NULL,
  balance_minor_units bigint NOT NULL CONSTRAINT no_overdraft CHECK (balance_minor_units >= 0),
  PRIMARY KEY (customer_id, account_id),
  FOREIGN KEY (customer_id, account_id) REFERENCES bank.account
);

-- One side of a movement of money, under the customer whose account it touches.
CREATE TABLE bank.transfer (
  customer_id uuid NOT NULL,
  transfer_id uuid NOT NULL,
  account_id uuid NOT NULL,
  kind text NOT NULL CONSTRAINT transfer_kind
    CHECK (kind IN ('opening', 'payment_out', 'payment_in', 'card_payment', 'own_out', 'own_in', 'refund_out', 'interest', 'fee')),
  state text NOT NULL CONSTRAINT transfer_state CHECK (state IN ('reserved', 'posted', 'voided')),
  amount_minor_units bigint NOT NULL CONSTRAINT transfer_amount CHECK (amount_minor_units > 0 AND amount_minor_units <= 999999999999999),
  currency text NOT NULL,
  -- Outsiders write these three.
  counterparty_name text NOT NULL CONSTRAINT counterparty_name_length CHECK (length(counterparty_name) <= 200),
  counterparty_iban text,
  reference text NOT NULL DEFAULT '' CONSTRAINT reference_length CHECK (length(reference) <= 500),
  category text NOT NULL DEFAULT 'other' CONSTRAINT category_length CHECK (length(category) BETWEEN 1 AND 40),
  payee_id uuid,
  action_id uuid,
  line_number smallint,
  -- On the payee's side: the transfer of the payer that this credits. Unique, so that a credit happens once.
  origin_transfer_id uuid,
  -- On a refund: the incoming transfer it sends back.
  refunds_transfer_id uuid,
  created_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  post_after timestamptz,
  posted_at timestamptz,
  PRIMARY KEY (customer_id, transfer_id),
  FOREIGN KEY (customer_id, account_id) REFERENCES bank.account,
  CONSTRAINT transfer_origin_once UNIQUE (customer_id, origin_transfer_id),
  CONSTRAINT posted_has_its_time CHECK ((state = 'posted') = (posted_at IS NOT NULL)),
  CONSTRAINT line_names_its_action CHECK ((action_id IS NULL) = (line_number IS NULL))
);
CREATE UNIQUE INDEX transfer_line_once ON bank.transfer (customer_id, action_id, line_number) WHERE action_id IS NOT NULL AND origin_transfer_id IS NULL;
CREATE UNIQUE INDEX transfer_refund_once ON bank.transfer (customer_id, refunds_transfer_id) WHERE refunds_transfer_id IS NOT NULL AND state <> 'voided';
CREATE INDEX transfer_by_account ON bank.transfer (customer_id, account_id, created_at DESC, transfer_id DESC);
CREATE INDEX transfer_by_time ON bank.transfer (customer_id, created_at DESC, transfer_id DESC);
CREATE INDEX transfer_due ON bank.transfer (post_after) WHERE state = 'reserved';

CREATE TABLE bank.entry (
  customer_id uuid NOT NULL,
  transfer_id uuid NOT NULL,
  leg smallint NOT NULL CONSTRAINT entry_leg CHECK (leg BETWEEN 1 AND 99),
  -- Whose book the leg stands in: the customer's account, money on its way, the outside world, the bank's income, the opening.
  book text NOT NULL CONSTRAINT entry_book CHECK (book IN ('account', 'transit', 'settlement', 'fee', 'opening')),
  account_id uuid,
  amount_minor_units bigint NOT NULL CONSTRAINT entry_amount CHECK (amount_minor_units <> 0),
  currency text NOT NULL,
  booked_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  PRIMARY KEY (customer_id, transfer_id, leg),
  FOREIGN KEY (customer_id, transfer_id) REFERENCES bank.transfer,
  FOREIGN KEY (customer_id, account_id) REFERENCES bank.account,
  CONSTRAINT account_leg_names_its_account CHECK ((book = 'account') = (account_id IS NOT NULL))
);
CREATE INDEX entry_by_account ON bank.entry (customer_id, account_id, booked_at) WHERE account_id IS NOT NULL;

-- At COMMIT every transfer that got an entry has at least two legs and sums to zero per currency. The function belongs to a
-- role that may read every entry: as the caller it would see nothing under row-level security and let the imbalance pass.
CREATE FUNCTION bank.check_entries_balance() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  legs bigint;
  unbalanced bigint;
BEGIN
  SELECT count(*) INTO legs FROM bank.entry e WHERE e.customer_id = NEW.customer_id AND e.transfer_id = NEW.transfer_id;
  SELECT count(*) INTO unbalanced FROM (
    SELECT 1 FROM bank.entry e WHERE e.customer_id = NEW.customer_id AND e.transfer_id = NEW.transfer_id
     GROUP BY e.currency HAVING sum(e.amount_minor_units) IS DISTINCT FROM 0) AS wrong;
  IF legs IS NULL OR legs < 2 OR unbalanced IS DISTINCT FROM 0 THEN
    RAISE EXCEPTION 'entries of a transfer do not balance' USING ERRCODE = 'CS010';
  END IF;
  RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER entries_balance AFTER INSERT ON bank.entry
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION bank.check_entries_balance();

CREATE FUNCTION bank.refuse_change() RETURNS trigger
  LANGUAGE plpgsql SET search_path = ''
  AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'CS011';
END
$$;
CREATE TRIGGER entry_is_append_only BEFORE UPDATE OR DELETE ON bank.entry FOR EACH ROW EXECUTE FUNCTION bank.refuse_change();
CREATE TRIGGER entry_is_never_emptied BEFORE TRUNCATE ON bank.entry FOR EACH STATEMENT EXECUTE FUNCTION bank.refuse_change();

CREATE TABLE bank.payee (
  customer_id uuid NOT NULL REFERENCES bank.customer,
  payee_id uuid NOT NULL,
  name text NOT NULL CONSTRAINT payee_name_length CHECK (length(name) BETWEEN 1 AND 140),
  alias text CONSTRAINT payee_alias_length CHECK (length(alias) BETWEEN 1 AND 70),
  iban text NOT NULL CONSTRAINT payee_iban_form CHECK (iban ~ '^[A-Z]{2}[0-9]{2}[A-Z0-9]{8,30}$'),
  name_check text NOT NULL DEFAULT 'not_checked' CONSTRAINT payee_name_check CHECK (name_check IN ('not_checked', 'match', 'close', 'no_match', 'unavailable')),
  created_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  PRIMARY KEY (customer_id, payee_id),
  CONSTRAINT payee_account_once UNIQUE (customer_id, iban)
);

-- Whether a payee was ever paid. A counter of money: only the execution owner writes it.
CREATE TABLE bank.payee_paid (
  customer_id uuid NOT NULL,
  payee_id uuid NOT NULL,
  first_paid_at timestamptz NOT NULL,
  payments_count bigint NOT NULL CONSTRAINT payments_count_positive CHECK (payments_count > 0),
  PRIMARY KEY (customer_id, payee_id),
  FOREIGN KEY (customer_id, payee_id) REFERENCES bank.payee
);

CREATE TABLE bank.customer_limit (
  customer_id uuid NOT NULL REFERENCES bank.customer,
  currency text NOT NULL,
  per_transfer_minor_units bigint NOT NULL CONSTRAINT per_transfer_positive CHECK (per_transfer_minor_units >= 0),
  per_day_minor_units bigint NOT NULL CONSTRAINT per_day_positive CHECK (per_day_minor_units >= 0),
  pending_total_minor_units bigint NOT NULL CONSTRAINT pending_total_positive CHECK (pending_total_minor_units >= 0),
  first_payment_minor_units bigint NOT NULL CONSTRAINT first_payment_positive CHECK (first_payment_minor_units >= 0),
  PRIMARY KEY (customer_id, currency)
);

-- What left on a day, so that the daily limit costs one row and not a history.
CREATE TABLE bank.spent_day (
  customer_id uuid NOT NULL REFERENCES bank.customer,
  currency text NOT NULL,
  day date NOT NULL,
  spent_minor_units bigint NOT NULL CONSTRAINT spent_positive CHECK (spent_minor_units >= 0),
  PRIMARY KEY (customer_id, currency, day)
);

CREATE TABLE bank.card (
  customer_id uuid NOT NULL REFERENCES bank.customer,
  card_id uuid NOT NULL,
  label text NOT NULL CONSTRAINT card_label_length CHECK (length(label) BETWEEN 1 AND 70),
  kind text NOT NULL CONSTRAINT card_kind CHECK (kind IN ('debit', 'credit')),
  last_four text NOT NULL CONSTRAINT card_last_four CHECK (last_four ~ '^[0-9]{4}$'),
  state text NOT NULL DEFAULT 'active' CONSTRAINT card_state CHECK (state IN ('active', 'frozen')),
  PRIMARY KEY (customer_id, card_id)
);

CREATE TABLE bank.standing_order (
  customer_id uuid NOT NULL REFERENCES bank.customer,
  order_id uuid NOT NULL,
  account_id uuid NOT NULL,
  payee_id uuid NOT NULL,
  name text CONSTRAINT order_name_length CHECK (length(name) BETWEEN 1 AND 70),
  amount_minor_units bigint NOT NULL CONSTRAINT order_amount CHECK (amount_minor_units > 0),
  currency text NOT NULL,
  frequency text NOT NULL CONSTRAINT order_frequency CHECK (frequency IN ('weekly', 'monthly', 'quarterly', 'yearly')),
  start_date date NOT NULL,
  state text NOT NULL DEFAULT 'active' CONSTRAINT order_state CHECK (state IN ('active', 'ended')),
  PRIMARY KEY (customer_id, order_id),
  FOREIGN KEY (customer_id, account_id) REFERENCES bank.account,
  FOREIGN KEY (customer_id, payee_id) REFERENCES bank.payee
);

CREATE TABLE bank.dispute (
  customer_id uuid NOT NULL,
  dispute_id uuid NOT NULL,
  transfer_id uuid NOT NULL,
  reason text NOT NULL,
  -- Typed on the panel by the customer.
  details text NOT NULL CONSTRAINT dispute_details_length CHECK (length(details) <= 1000),
  action_id uuid NOT NULL,
  opened_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  PRIMARY KEY (customer_id, dispute_id),
  FOREIGN KEY (customer_id, transfer_id) REFERENCES bank.transfer,
  CONSTRAINT dispute_once_per_transfer UNIQUE (customer_id, transfer_id)
);

CREATE TABLE bank.profile (
  customer_id uuid PRIMARY KEY REFERENCES bank.customer,
  address text NOT NULL DEFAULT '',
  phone text NOT NULL DEFAULT '',
  email text NOT NULL DEFAULT ''
);

-- The customer's inbox. Outsiders write every word of it.
CREATE TABLE bank.document (
  customer_id uuid NOT NULL REFERENCES bank.customer,
  document_id uuid NOT NULL,
  sender text NOT NULL CONSTRAINT document_sender_length CHECK (length(sender) <= 200),
  title text NOT NULL CONSTRAINT document_title_length CHECK (length(title) <= 200),
  body text NOT NULL CONSTRAINT document_body_length CHECK (length(body) <= 20000),
  received_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  PRIMARY KEY (customer_id, document_id)
);
CREATE INDEX document_by_time ON bank.document (customer_id, received_at DESC);

-- Every one of these tables is a customer's: the same wall on each, in the one form that keeps its index.
DO $wall$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['account', 'account_directory', 'account_balance', 'transfer', 'entry', 'payee', 'payee_paid',
    'customer_limit', 'spent_day', 'card', 'standing_order', 'dispute', 'profile', 'document'] LOOP
    EXECUTE format('ALTER TABLE bank.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE bank.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY executor_acts ON bank.%I FOR ALL TO cs_executor USING (true) WITH CHECK (true)', name);
    IF name <> 'account_directory' THEN
      EXECUTE format('CREATE POLICY own_rows ON bank.%I FOR SELECT TO bank_mcp, panel USING (customer_id = (SELECT bank.current_customer()))', name);
      EXECUTE format('GRANT SELECT ON bank.%I TO bank_mcp, panel', name);
    END IF;
  END LOOP;
END
$wall$;

GRANT SELECT ON bank.account, bank.account_directory, bank.customer_limit, bank.profile, bank.entry TO cs_executor;
GRANT SELECT, INSERT, UPDATE (balance_minor_units) ON bank.account_balance TO cs_executor;
GRANT SELECT, INSERT, UPDATE (state, posted_at) ON bank.transfer TO cs_executor;
GRANT INSERT ON bank.entry TO cs_executor;
GRANT SELECT, INSERT ON bank.payee TO cs_executor;
GRANT SELECT, INSERT, UPDATE (payments_count) ON bank.payee_paid TO cs_executor;
GRANT SELECT, INSERT, UPDATE (spent_minor_units) ON bank.spent_day TO cs_executor;
GRANT SELECT, UPDATE (state) ON bank.card TO cs_executor;
GRANT SELECT, INSERT, UPDATE (account_id, payee_id, amount_minor_units, currency, frequency, start_date, state) ON bank.standing_order TO cs_executor;
GRANT SELECT, INSERT ON bank.dispute TO cs_executor;
GRANT INSERT, UPDATE (address, phone, email) ON bank.profile TO cs_executor;
-- A dispute's details and a profile's lines are the customer's own words: the model side does not read them.
REVOKE SELECT ON bank.dispute, bank.profile FROM bank_mcp;
DROP POLICY own_rows ON bank.dispute;
DROP POLICY own_rows ON bank.profile;
CREATE POLICY own_rows ON bank.dispute FOR SELECT TO panel USING (customer_id = (SELECT bank.current_customer()));
CREATE POLICY own_rows ON bank.profile FOR SELECT TO panel USING (customer_id = (SELECT bank.current_customer()));

GRANT SELECT ON bank.entry TO cs_ledger_check;
CREATE POLICY ledger_check_reads ON bank.entry FOR SELECT TO cs_ledger_check USING (true);


RESET ROLE;
GRANT CREATE ON SCHEMA bank TO cs_ledger_check;
ALTER FUNCTION bank.check_entries_balance() OWNER TO cs_ledger_check;
REVOKE CREATE ON SCHEMA bank FROM cs_ledger_check;
