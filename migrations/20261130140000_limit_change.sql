-- Limits that a customer changes: lowering takes effect at once, raising wants a Confirm and then cools off.
--
-- The time to undo is a limit of the same sort, the other way round: longer is more careful.
SET LOCAL ROLE cs_owner;

ALTER TABLE bank.setting
  -- How long a raised limit waits before it takes effect.
  ADD COLUMN limit_cooling_seconds integer NOT NULL DEFAULT 86400
    CONSTRAINT limit_cooling_seconds_range CHECK (limit_cooling_seconds BETWEEN 60 AND 604800),
  -- What no limit goes above, in minor units.
  ADD COLUMN limit_max_minor_units bigint NOT NULL DEFAULT 10000000 CONSTRAINT limit_max_positive CHECK (limit_max_minor_units > 0);

ALTER TABLE bank.pending_action DROP CONSTRAINT action_kind;
ALTER TABLE bank.pending_action ADD CONSTRAINT action_kind CHECK (kind IN ('transfer', 'refund', 'standing_order_create', 'standing_order_change',
  'standing_order_cancel', 'card_freeze', 'card_unfreeze', 'dispute', 'payee', 'profile_change', 'limit_change'));
-- Typed on the panel: nobody else asks for one.
DROP POLICY bank_asks ON bank.pending_action;
CREATE POLICY bank_asks ON bank.pending_action FOR INSERT TO bank_mcp
  WITH CHECK (customer_id = (SELECT bank.current_customer()) AND conversation_id = (SELECT bank.current_conversation())
    AND state = 'pending' AND current_version = 1 AND kind <> 'limit_change');

-- A confirmed raise that waits for its day.
CREATE TABLE bank.limit_change (
  customer_id uuid NOT NULL,
  action_id uuid NOT NULL,
  limit_name text NOT NULL CONSTRAINT changed_limit CHECK (limit_name IN ('per_transfer', 'per_day', 'pending_total', 'first_payment', 'undo_seconds')),
  currency text NOT NULL DEFAULT '',
  value bigint NOT NULL CONSTRAINT changed_value CHECK (value >= 0),
  effective_at timestamptz NOT NULL,
  ended_at timestamptz,
  outcome text CONSTRAINT limit_change_outcome CHECK (outcome IN ('applied', 'stopped')),
  PRIMARY KEY (customer_id, action_id),
  FOREIGN KEY (customer_id, action_id) REFERENCES bank.pending_action,
  CONSTRAINT change_ended_with_an_outcome CHECK ((ended_at IS NULL) = (outcome IS NULL))
);
CREATE INDEX limit_change_due ON bank.limit_change (effective_at) WHERE ended_at IS NULL;

ALTER TABLE bank.limit_change ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.limit_change FORCE ROW LEVEL SECURITY;
CREATE POLICY executor_acts ON bank.limit_change FOR ALL TO cs_executor USING (true) WITH CHECK (true);
CREATE POLICY own_rows ON bank.limit_change FOR SELECT TO panel USING (customer_id = (SELECT bank.current_customer()));
GRANT SELECT ON bank.limit_change TO panel;
GRANT SELECT, INSERT, UPDATE (ended_at, outcome) ON bank.limit_change TO cs_executor;
GRANT UPDATE (per_transfer_minor_units, per_day_minor_units, pending_total_minor_units, first_payment_minor_units) ON bank.customer_limit TO cs_executor;
GRANT INSERT, UPDATE (undo_seconds) ON bank.customer_choice TO cs_executor;
GRANT INSERT (customer_id, action_id, conversation_id, kind, target_key, grounded_through) ON bank.pending_action TO cs_executor;
GRANT INSERT (customer_id, action_id, version, currency, typed, rules_version, provenance_version) ON bank.pending_version TO cs_executor;
GRANT SELECT, INSERT (customer_id, conversation_id) ON bank.conversation TO cs_executor;
CREATE POLICY executor_finds_conversations ON bank.conversation FOR ALL TO cs_executor USING (true) WITH CHECK (true);
GRANT EXECUTE ON FUNCTION bank.pending_expiry() TO cs_executor;

DO $kinds$
DECLARE
  kinds text;
BEGIN
  -- The kinds of event that there are by now, and one more.
  SELECT pg_catalog.pg_get_constraintdef(c.oid) INTO STRICT kinds FROM pg_catalog.pg_constraint c
   WHERE c.conrelid = 'bank.bank_event'::regclass AND c.conname = 'event_kind';
  kinds := regexp_replace(kinds, '\]\)*$', '');
  kinds := substring(kinds FROM position('ARRAY[' IN kinds));
  ALTER TABLE bank.bank_event DROP CONSTRAINT event_kind;
  EXECUTE format('ALTER TABLE bank.bank_event ADD CONSTRAINT event_kind CHECK (kind = ANY (%s, ''limit_changed'']))', kinds);
END
$kinds$;

RESET ROLE;
