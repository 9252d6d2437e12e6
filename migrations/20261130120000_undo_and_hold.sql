-- Between Confirm and the money's leaving: the time to undo, and the bank's own waiting.
--
-- A confirmed payment is reserved at once and posted when its time to undo is over. A held one was confirmed and waits for the bank;
-- its hold keeps the very record that the customer confirmed, and nothing else is ever run from it.
SET LOCAL ROLE cs_owner;

ALTER TABLE bank.setting
  -- For this long after Confirm a payment can be undone, where the customer chose nothing else.
  ADD COLUMN undo_seconds integer NOT NULL DEFAULT 10 CONSTRAINT undo_seconds_range CHECK (undo_seconds BETWEEN 0 AND 300),
  -- The longest time to undo a customer can choose; the shortest is none.
  ADD COLUMN undo_seconds_max integer NOT NULL DEFAULT 30 CONSTRAINT undo_seconds_max_range CHECK (undo_seconds_max BETWEEN 0 AND 300),
  -- How long the bank waits before a payment to somebody new that stands out; then it goes.
  ADD COLUMN cooling_off_seconds integer NOT NULL DEFAULT 86400
    CONSTRAINT cooling_off_seconds_range CHECK (cooling_off_seconds BETWEEN 60 AND 604800),
  -- How long a held payment can wait at all; then it ends and nothing was sent.
  ADD COLUMN hold_seconds_max integer NOT NULL DEFAULT 345600
    CONSTRAINT hold_seconds_max_range CHECK (hold_seconds_max BETWEEN 60 AND 2592000),
  ADD CONSTRAINT a_hold_outlasts_cooling_off CHECK (hold_seconds_max > cooling_off_seconds);

-- What a customer chose for themselves.
CREATE TABLE bank.customer_choice (
  customer_id uuid PRIMARY KEY REFERENCES bank.customer,
  undo_seconds integer NOT NULL CONSTRAINT chosen_undo_seconds_range CHECK (undo_seconds BETWEEN 0 AND 300)
);

-- How long a payment of this customer can be undone. Set by the bank, chosen by the customer, bounded by the bank.
CREATE FUNCTION bank.undo_seconds_of(who uuid) RETURNS integer
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  RETURN (SELECT least(coalesce((SELECT c.undo_seconds FROM bank.customer_choice c WHERE c.customer_id = who), s.undo_seconds), s.undo_seconds_max)
            FROM bank.setting s);
END
$$;

-- A payment above an amount waits until an operator allows it. For one customer, or for all.
CREATE TABLE bank.operator_rule (
  rule_id uuid PRIMARY KEY,
  customer_id uuid REFERENCES bank.customer,
  currency text NOT NULL,
  above_minor_units bigint NOT NULL CONSTRAINT rule_amount CHECK (above_minor_units >= 0),
  operator text NOT NULL CONSTRAINT rule_operator CHECK (operator ~ '^[a-z0-9][a-z0-9._@-]{0,79}$'),
  made_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  ended_at timestamptz
);

-- What the customer confirmed and the bank has not done yet. `record`, the hashes and the note are the confirmed ones.
CREATE TABLE bank.hold (
  customer_id uuid NOT NULL,
  action_id uuid NOT NULL,
  version integer NOT NULL,
  reason text NOT NULL CONSTRAINT hold_reason CHECK (reason IN ('name_no_match', 'name_unavailable', 'cooling_off', 'operator_rule')),
  confirm_hash bytea NOT NULL CONSTRAINT hold_confirm_hash_length CHECK (length(confirm_hash) = 32),
  executed_hash bytea NOT NULL CONSTRAINT hold_executed_hash_length CHECK (length(executed_hash) = 32),
  note text NOT NULL CONSTRAINT hold_note_length CHECK (length(note) <= 200),
  record bytea NOT NULL,
  held_at timestamptz NOT NULL,
  -- When it goes by itself; never where something has to happen first.
  release_after timestamptz,
  -- When it ends unsent.
  ends_at timestamptz NOT NULL,
  allowed_at timestamptz,
  allowed_by text CONSTRAINT hold_allowed_by CHECK (allowed_by ~ '^[a-z0-9][a-z0-9._@-]{0,79}$'),
  event_sequence bigint NOT NULL,
  PRIMARY KEY (customer_id, action_id),
  FOREIGN KEY (customer_id, action_id, version) REFERENCES bank.pending_version,
  CONSTRAINT hold_ends_after_it_goes CHECK (ends_at > held_at AND (release_after IS NULL OR release_after < ends_at)),
  CONSTRAINT hold_is_allowed_by_somebody CHECK ((allowed_at IS NULL) = (allowed_by IS NULL))
);

-- What was undone, once.
CREATE TABLE bank.undo (
  customer_id uuid NOT NULL,
  action_id uuid NOT NULL,
  undone_at timestamptz NOT NULL,
  -- By whom: the customer on the panel, or whoever said "this was not me" with the link of a notice.
  how text NOT NULL CONSTRAINT undo_how CHECK (how IN ('undo', 'not_me')),
  event_sequence bigint NOT NULL,
  PRIMARY KEY (customer_id, action_id),
  FOREIGN KEY (customer_id, action_id) REFERENCES bank.execution
);

ALTER TABLE bank.transfer
  -- Set under the payer's lock when the time to undo is over: from then on the money goes, and nothing voids it.
  ADD COLUMN leaving_at timestamptz,
  ADD COLUMN voided_at timestamptz,
  ADD CONSTRAINT voided_has_its_time CHECK ((state = 'voided') = (voided_at IS NOT NULL)),
  ADD CONSTRAINT what_leaves_is_not_voided CHECK (leaving_at IS NULL OR voided_at IS NULL);

-- The transfer's state machine, in the database itself. Reads only the row it guards.
CREATE FUNCTION bank.guard_transfer() RETURNS trigger
  LANGUAGE plpgsql SET search_path = ''
  AS $$
BEGIN
  IF (NEW.customer_id, NEW.transfer_id, NEW.account_id, NEW.kind, NEW.amount_minor_units, NEW.currency, NEW.counterparty_name, NEW.reference, NEW.created_at)
     IS DISTINCT FROM (OLD.customer_id, OLD.transfer_id, OLD.account_id, OLD.kind, OLD.amount_minor_units, OLD.currency, OLD.counterparty_name, OLD.reference, OLD.created_at)
     OR NEW.counterparty_iban IS DISTINCT FROM OLD.counterparty_iban OR NEW.payee_id IS DISTINCT FROM OLD.payee_id
     OR NEW.action_id IS DISTINCT FROM OLD.action_id OR NEW.line_number IS DISTINCT FROM OLD.line_number
     OR NEW.origin_transfer_id IS DISTINCT FROM OLD.origin_transfer_id OR NEW.refunds_transfer_id IS DISTINCT FROM OLD.refunds_transfer_id
     OR NEW.post_after IS DISTINCT FROM OLD.post_after THEN
    RAISE EXCEPTION 'these columns of a transfer never change' USING ERRCODE = 'CS012';
  END IF;
  IF OLD.state <> 'reserved' THEN
    RAISE EXCEPTION 'a transfer that is % does not change', OLD.state USING ERRCODE = 'CS013';
  END IF;
  IF OLD.leaving_at IS NOT NULL AND NEW.leaving_at IS DISTINCT FROM OLD.leaving_at THEN
    RAISE EXCEPTION 'a transfer that leaves goes on' USING ERRCODE = 'CS013';
  END IF;
  IF NEW.state = 'posted' AND NEW.leaving_at IS NULL THEN
    RAISE EXCEPTION 'a transfer leaves before it is posted' USING ERRCODE = 'CS013';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER transfer_moves_along_its_edges BEFORE UPDATE ON bank.transfer FOR EACH ROW EXECUTE FUNCTION bank.guard_transfer();
CREATE TRIGGER undo_is_append_only BEFORE UPDATE OR DELETE ON bank.undo FOR EACH ROW EXECUTE FUNCTION bank.refuse_change();

-- A hold keeps what was confirmed: only an operator's word is ever added, once.
CREATE FUNCTION bank.guard_hold() RETURNS trigger
  LANGUAGE plpgsql SET search_path = ''
  AS $$
BEGIN
  IF OLD.allowed_at IS NOT NULL OR NEW.allowed_at IS NULL
     OR (NEW.customer_id, NEW.action_id, NEW.version, NEW.reason, NEW.confirm_hash, NEW.executed_hash, NEW.note, NEW.record, NEW.held_at, NEW.ends_at, NEW.event_sequence)
        IS DISTINCT FROM (OLD.customer_id, OLD.action_id, OLD.version, OLD.reason, OLD.confirm_hash, OLD.executed_hash, OLD.note, OLD.record, OLD.held_at, OLD.ends_at, OLD.event_sequence)
     OR NEW.release_after IS DISTINCT FROM OLD.release_after THEN
    RAISE EXCEPTION 'a hold is only ever allowed' USING ERRCODE = 'CS012';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER hold_is_only_allowed BEFORE UPDATE ON bank.hold FOR EACH ROW EXECUTE FUNCTION bank.guard_hold();
CREATE TRIGGER hold_is_never_deleted BEFORE DELETE ON bank.hold FOR EACH ROW EXECUTE FUNCTION bank.refuse_change();

ALTER TABLE bank.bank_event DROP CONSTRAINT event_kind;
ALTER TABLE bank.bank_event ADD CONSTRAINT event_kind CHECK (kind IN ('request_created', 'superseded', 'cancelled', 'expired', 'refused',
  'slot_filled', 'line_dropped', 'kept', 'card_shown', 'confirmed', 'posted', 'held', 'undone'));

DO $wall$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['customer_choice', 'hold', 'undo', 'operator_rule'] LOOP
    EXECUTE format('ALTER TABLE bank.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE bank.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY executor_acts ON bank.%I FOR ALL TO cs_executor USING (true) WITH CHECK (true)', name);
    EXECUTE format('GRANT SELECT ON bank.%I TO panel', name);
    EXECUTE format('CREATE POLICY own_rows ON bank.%I FOR SELECT TO panel USING (customer_id = (SELECT bank.current_customer())%s)', name,
      CASE WHEN name = 'operator_rule' THEN ' OR customer_id IS NULL' ELSE '' END);
  END LOOP;
END
$wall$;
GRANT SELECT ON bank.customer_choice, bank.operator_rule TO cs_executor;
GRANT SELECT, INSERT, UPDATE (allowed_at, allowed_by) ON bank.hold TO cs_executor;
GRANT SELECT, INSERT ON bank.undo TO cs_executor;
GRANT UPDATE (leaving_at, voided_at) ON bank.transfer TO cs_executor;
GRANT UPDATE (first_paid_at), DELETE ON bank.payee_paid TO cs_executor;

-- Only a Confirm holds: the panel's own login ends a request, and nothing more.
DROP POLICY panel_moves ON bank.pending_action;
CREATE POLICY panel_moves ON bank.pending_action FOR UPDATE TO panel
  USING (customer_id = (SELECT bank.current_customer()) AND state IN ('pending', 'held'))
  WITH CHECK (customer_id = (SELECT bank.current_customer()) AND state IN ('pending', 'cancelled', 'expired'));

GRANT USAGE ON SCHEMA bank TO releaser;
GRANT EXECUTE ON FUNCTION bank.bank_clock() TO releaser;
GRANT EXECUTE ON FUNCTION bank.undo_seconds_of(uuid) TO cs_executor;

-- How long the session's own payments can be undone.
CREATE FUNCTION bank.my_undo_seconds() RETURNS integer
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  RETURN bank.undo_seconds_of(bank.current_customer());
END
$$;
GRANT EXECUTE ON FUNCTION bank.my_undo_seconds() TO panel;

RESET ROLE;
GRANT CREATE ON SCHEMA bank TO cs_executor;
ALTER FUNCTION bank.undo_seconds_of(uuid) OWNER TO cs_executor;
ALTER FUNCTION bank.my_undo_seconds() OWNER TO cs_executor;
REVOKE CREATE ON SCHEMA bank FROM cs_executor;
