-- What the customer said, what was asked for in their name, and what they made of it.
SET LOCAL ROLE cs_owner;

CREATE TABLE bank.conversation (
  customer_id uuid NOT NULL REFERENCES bank.customer,
  conversation_id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  PRIMARY KEY (customer_id, conversation_id)
);
CREATE INDEX conversation_by_time ON bank.conversation (customer_id, created_at DESC);

-- Every word the customer typed, recorded before anything else sees it.
CREATE TABLE bank.utterance (
  customer_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  utterance_id uuid NOT NULL,
  -- Grows over time: "newer than the open action" compares it.
  sequence bigint GENERATED ALWAYS AS IDENTITY,
  -- Made by the page: a double send is one message.
  client_message_id uuid NOT NULL,
  body text NOT NULL CONSTRAINT utterance_length CHECK (length(body) BETWEEN 1 AND 2000),
  -- [{"kind":"paste"|"drop","start":byte,"end":byte}]
  spans jsonb NOT NULL DEFAULT '[]' CONSTRAINT utterance_spans_form CHECK (jsonb_typeof(spans) = 'array'),
  -- Salt of the hash under which the confirm record names this message, so that erasing the text leaves receipts whole.
  salt bytea NOT NULL DEFAULT decode(replace(gen_random_uuid()::text, '-', ''), 'hex') CONSTRAINT utterance_salt_length CHECK (length(salt) = 16),
  recorded_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  PRIMARY KEY (customer_id, conversation_id, utterance_id),
  FOREIGN KEY (customer_id, conversation_id) REFERENCES bank.conversation,
  CONSTRAINT utterance_sent_once UNIQUE (customer_id, conversation_id, client_message_id)
);
CREATE UNIQUE INDEX utterance_in_order ON bank.utterance (customer_id, conversation_id, sequence);

-- What the assistant answered, kept by the chat origin for its own page.
CREATE TABLE bank.reply (
  customer_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  reply_id uuid NOT NULL,
  utterance_id uuid NOT NULL,
  state text NOT NULL DEFAULT 'running' CONSTRAINT reply_state CHECK (state IN ('running', 'complete', 'stopped', 'failed')),
  body text NOT NULL DEFAULT '' CONSTRAINT reply_length CHECK (length(body) <= 20000),
  looked_at text[] NOT NULL DEFAULT '{}',
  started_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  ended_at timestamptz,
  PRIMARY KEY (customer_id, conversation_id, reply_id),
  FOREIGN KEY (customer_id, conversation_id, utterance_id) REFERENCES bank.utterance,
  CONSTRAINT reply_once UNIQUE (customer_id, conversation_id, utterance_id)
);

-- A request token is good for one call. Unique, in the transaction of what it did, reads too.
CREATE TABLE bank.used_request (
  jti text PRIMARY KEY CONSTRAINT jti_form CHECK (jti ~ '^[0-9a-f]{32}$'),
  customer_id uuid NOT NULL,
  used_at timestamptz NOT NULL DEFAULT bank.bank_clock()
);
CREATE INDEX used_request_by_time ON bank.used_request (used_at);

CREATE FUNCTION bank.pending_expiry() RETURNS timestamptz
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  RETURN bank.bank_clock() + (SELECT s.pending_ttl_seconds FROM bank.setting s) * interval '1 second';
END
$$;

-- A request. Values live in its versions; this row holds where it stands.
CREATE TABLE bank.pending_action (
  customer_id uuid NOT NULL REFERENCES bank.customer,
  action_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  kind text NOT NULL CONSTRAINT action_kind CHECK (kind IN ('transfer', 'refund', 'standing_order_create', 'standing_order_change',
    'standing_order_cancel', 'card_freeze', 'card_unfreeze', 'dispute', 'payee', 'profile_change')),
  state text NOT NULL DEFAULT 'pending' CONSTRAINT action_state CHECK (state IN ('pending', 'superseded', 'cancelled', 'expired', 'refused', 'held', 'confirmed')),
  -- What at most one open action may be about: 'transfer' in a conversation, 'card:<id>' and so on for the rest.
  target_key text NOT NULL CONSTRAINT target_key_length CHECK (length(target_key) BETWEEN 1 AND 80),
  current_version integer NOT NULL DEFAULT 1 CONSTRAINT current_version_positive CHECK (current_version BETWEEN 1 AND 100),
  superseded_by uuid,
  -- The newest message when the action was made: only a newer one lets another take its place.
  grounded_through bigint NOT NULL,
  -- The newest message when it was confirmed or cancelled: mentions up to it are used up.
  consumed_through bigint,
  -- Why the bank or the clock ended it, in a code.
  reason text,
  created_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  expires_at timestamptz NOT NULL DEFAULT bank.pending_expiry(),
  changed_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  PRIMARY KEY (customer_id, action_id),
  FOREIGN KEY (customer_id, conversation_id) REFERENCES bank.conversation,
  FOREIGN KEY (customer_id, superseded_by) REFERENCES bank.pending_action DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT superseded_names_its_successor CHECK ((state = 'superseded') = (superseded_by IS NOT NULL)),
  CONSTRAINT not_superseded_by_itself CHECK (superseded_by IS DISTINCT FROM action_id)
);
CREATE UNIQUE INDEX one_open_action_per_target ON bank.pending_action (customer_id, conversation_id, target_key) WHERE state = 'pending';
CREATE INDEX action_open ON bank.pending_action (customer_id, created_at DESC) WHERE state IN ('pending', 'held');
CREATE INDEX action_by_time ON bank.pending_action (customer_id, created_at DESC);
CREATE INDEX action_due ON bank.pending_action (expires_at) WHERE state = 'pending';

-- The values of an action, append-only. The bank role writes version 1, the panel n+1.
CREATE TABLE bank.pending_version (
  customer_id uuid NOT NULL,
  action_id uuid NOT NULL,
  version integer NOT NULL CONSTRAINT version_positive CHECK (version BETWEEN 1 AND 100),
  currency text CONSTRAINT version_currency CHECK (currency IN ('EUR', 'GBP', 'USD', 'CHF', 'PLN', 'JPY', 'KWD')),
  from_account_id uuid,
  card_id uuid,
  order_id uuid,
  transaction_id uuid,
  frequency text CONSTRAINT version_frequency CHECK (frequency IN ('weekly', 'monthly', 'quarterly', 'yearly')),
  start_date date,
  dispute_reason text CONSTRAINT version_reason CHECK (dispute_reason IN ('not_recognised', 'charged_twice', 'wrong_amount', 'not_received', 'cancelled_subscription')),
  profile_field text CONSTRAINT version_profile_field CHECK (profile_field IN ('address', 'phone', 'email')),
  -- Typed on the panel, never in the bank role's version: {"details": …}, {"payee_name": …, "payee_iban": …}, {"value": …}.
  typed jsonb NOT NULL DEFAULT '{}' CONSTRAINT typed_is_an_object CHECK (jsonb_typeof(typed) = 'object'),
  rules_version text NOT NULL,
  provenance_version text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  PRIMARY KEY (customer_id, action_id, version),
  FOREIGN KEY (customer_id, action_id) REFERENCES bank.pending_action DEFERRABLE INITIALLY DEFERRED,
  FOREIGN KEY (customer_id, from_account_id) REFERENCES bank.account,
  FOREIGN KEY (customer_id, card_id) REFERENCES bank.card,
  FOREIGN KEY (customer_id, order_id) REFERENCES bank.standing_order,
  FOREIGN KEY (customer_id, transaction_id) REFERENCES bank.transfer
);

-- A payment of a version: one line for each pair, ten at most.
CREATE TABLE bank.pending_line (
  customer_id uuid NOT NULL,
  action_id uuid NOT NULL,
  version integer NOT NULL,
  line_number smallint NOT NULL CONSTRAINT line_number_range CHECK (line_number BETWEEN 1 AND 10),
  payee_id uuid,
  own_account_id uuid,
  amount_minor_units bigint CONSTRAINT line_amount CHECK (amount_minor_units > 0 AND amount_minor_units <= 999999999999999),
  PRIMARY KEY (customer_id, action_id, version, line_number),
  FOREIGN KEY (customer_id, action_id, version) REFERENCES bank.pending_version,
  FOREIGN KEY (customer_id, payee_id) REFERENCES bank.payee,
  FOREIGN KEY (customer_id, own_account_id) REFERENCES bank.account,
  CONSTRAINT line_has_one_payee CHECK (payee_id IS NULL OR own_account_id IS NULL)
);

-- What the customer filled in or decided on the panel: it grounds a value as a message's words do.
CREATE TABLE bank.panel_entry (
  customer_id uuid NOT NULL,
  action_id uuid NOT NULL,
  -- The version this entry made.
  version integer NOT NULL,
  slot text NOT NULL CONSTRAINT entry_slot CHECK (slot IN ('payee', 'amount', 'from_account', 'card', 'order', 'transaction', 'frequency',
    'start_date', 'dispute_reason', 'details', 'payee_name', 'payee_iban', 'value', 'keep', 'drop')),
  line_number smallint NOT NULL DEFAULT 0 CONSTRAINT entry_line_range CHECK (line_number BETWEEN 0 AND 10),
  value text NOT NULL CONSTRAINT entry_value_length CHECK (length(value) <= 1000),
  entered_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  PRIMARY KEY (customer_id, action_id, version, slot, line_number),
  FOREIGN KEY (customer_id, action_id, version) REFERENCES bank.pending_version
);

-- Each showing of a card: which record, under which one-time nonce.
CREATE TABLE bank.card_shown (
  customer_id uuid NOT NULL,
  nonce_hash bytea NOT NULL CONSTRAINT nonce_hash_length CHECK (length(nonce_hash) = 32),
  action_id uuid NOT NULL,
  version integer NOT NULL,
  panel_grant_id uuid NOT NULL REFERENCES bank.session_grant,
  confirm_hash bytea NOT NULL CONSTRAINT confirm_hash_length CHECK (length(confirm_hash) = 32),
  shown_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  consumed_at timestamptz,
  PRIMARY KEY (customer_id, nonce_hash),
  FOREIGN KEY (customer_id, action_id, version) REFERENCES bank.pending_version
);
CREATE INDEX card_shown_by_action ON bank.card_shown (customer_id, action_id, version);

-- "Executed" is a row here, which only the execution function writes.
CREATE TABLE bank.execution (
  customer_id uuid NOT NULL,
  action_id uuid NOT NULL,
  version integer NOT NULL,
  confirm_hash bytea NOT NULL CONSTRAINT execution_confirm_hash_length CHECK (length(confirm_hash) = 32),
  executed_hash bytea NOT NULL CONSTRAINT execution_executed_hash_length CHECK (length(executed_hash) = 32),
  -- The customer's own words for the payee, saved with the confirmation.
  note text NOT NULL DEFAULT '' CONSTRAINT note_length CHECK (length(note) <= 200),
  record bytea NOT NULL,
  event_sequence bigint NOT NULL,
  executed_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  PRIMARY KEY (customer_id, action_id),
  FOREIGN KEY (customer_id, action_id, version) REFERENCES bank.pending_version
);

-- The state machine, in the database itself. Reads only the row it guards.
CREATE FUNCTION bank.guard_action() RETURNS trigger
  LANGUAGE plpgsql SET search_path = ''
  AS $$
BEGIN
  IF NEW.customer_id IS DISTINCT FROM OLD.customer_id OR NEW.action_id IS DISTINCT FROM OLD.action_id
     OR NEW.conversation_id IS DISTINCT FROM OLD.conversation_id OR NEW.kind IS DISTINCT FROM OLD.kind
     OR NEW.created_at IS DISTINCT FROM OLD.created_at OR NEW.expires_at IS DISTINCT FROM OLD.expires_at THEN
    RAISE EXCEPTION 'these columns of an action never change' USING ERRCODE = 'CS012';
  END IF;
  IF OLD.state <> NEW.state AND NOT (
       (OLD.state = 'pending' AND NEW.state IN ('superseded', 'cancelled', 'expired', 'refused', 'held', 'confirmed'))
    OR (OLD.state = 'held' AND NEW.state IN ('confirmed', 'cancelled', 'expired'))) THEN
    RAISE EXCEPTION 'an action that is % does not become %', OLD.state, NEW.state USING ERRCODE = 'CS013';
  END IF;
  IF OLD.state NOT IN ('pending', 'held') THEN
    RAISE EXCEPTION 'an action that is % does not change', OLD.state USING ERRCODE = 'CS013';
  END IF;
  IF NEW.current_version <> OLD.current_version AND (NEW.current_version <> OLD.current_version + 1 OR OLD.state <> 'pending') THEN
    RAISE EXCEPTION 'versions grow by one while pending' USING ERRCODE = 'CS012';
  END IF;
  IF OLD.state <> NEW.state THEN
    NEW.changed_at := bank.bank_clock();
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER action_moves_along_its_edges BEFORE UPDATE ON bank.pending_action FOR EACH ROW EXECUTE FUNCTION bank.guard_action();
CREATE TRIGGER version_is_append_only BEFORE UPDATE OR DELETE ON bank.pending_version FOR EACH ROW EXECUTE FUNCTION bank.refuse_change();
CREATE TRIGGER line_is_append_only BEFORE UPDATE OR DELETE ON bank.pending_line FOR EACH ROW EXECUTE FUNCTION bank.refuse_change();
CREATE TRIGGER panel_entry_is_append_only BEFORE UPDATE OR DELETE ON bank.panel_entry FOR EACH ROW EXECUTE FUNCTION bank.refuse_change();
CREATE TRIGGER execution_is_append_only BEFORE UPDATE OR DELETE ON bank.execution FOR EACH ROW EXECUTE FUNCTION bank.refuse_change();
CREATE TRIGGER utterance_is_append_only BEFORE UPDATE ON bank.utterance FOR EACH ROW EXECUTE FUNCTION bank.refuse_change();

-- Wakes the panel's live-update streams. It carries no data: whoever listens reads again with its own rights.
CREATE FUNCTION bank.wake_panels() RETURNS trigger
  LANGUAGE plpgsql SET search_path = ''
  AS $$
BEGIN
  PERFORM pg_catalog.pg_notify('countersign_wake', '');
  RETURN NULL;
END
$$;
CREATE TRIGGER action_wakes_panels AFTER INSERT OR UPDATE ON bank.pending_action FOR EACH STATEMENT EXECUTE FUNCTION bank.wake_panels();
CREATE TRIGGER utterance_wakes_panels AFTER INSERT ON bank.utterance FOR EACH STATEMENT EXECUTE FUNCTION bank.wake_panels();

DO $wall$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['conversation', 'utterance', 'reply', 'used_request', 'pending_action', 'pending_version', 'pending_line',
    'panel_entry', 'card_shown', 'execution'] LOOP
    EXECUTE format('ALTER TABLE bank.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE bank.%I FORCE ROW LEVEL SECURITY', name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['pending_action', 'pending_version', 'pending_line', 'panel_entry', 'card_shown', 'execution'] LOOP
    EXECUTE format('CREATE POLICY own_rows ON bank.%I FOR SELECT TO panel USING (customer_id = (SELECT bank.current_customer()))', name);
    EXECUTE format('GRANT SELECT ON bank.%I TO panel', name);
    EXECUTE format('CREATE POLICY executor_acts ON bank.%I FOR ALL TO cs_executor USING (true) WITH CHECK (true)', name);
  END LOOP;
END
$wall$;

-- intake: its own customer's conversations, messages and replies.
GRANT SELECT, INSERT (customer_id, conversation_id) ON bank.conversation TO intake;
GRANT SELECT, INSERT (customer_id, conversation_id, utterance_id, client_message_id, body, spans) ON bank.utterance TO intake;
GRANT SELECT, INSERT (customer_id, conversation_id, reply_id, utterance_id), UPDATE (state, body, looked_at, ended_at) ON bank.reply TO intake;
CREATE POLICY own_rows ON bank.conversation FOR ALL TO intake
  USING (customer_id = (SELECT bank.current_customer())) WITH CHECK (customer_id = (SELECT bank.current_customer()));
CREATE POLICY own_rows ON bank.utterance FOR ALL TO intake
  USING (customer_id = (SELECT bank.current_customer())) WITH CHECK (customer_id = (SELECT bank.current_customer()));
CREATE POLICY own_rows ON bank.reply FOR ALL TO intake
  USING (customer_id = (SELECT bank.current_customer())) WITH CHECK (customer_id = (SELECT bank.current_customer()));

-- bank_mcp: the messages of its turn's conversation, and requests in it. It writes "pending" and, over a pending one of the
-- same conversation, "superseded"; nothing else, and no column the database owns.
GRANT SELECT ON bank.utterance, bank.pending_action, bank.pending_version, bank.pending_line TO bank_mcp;
GRANT SELECT (customer_id, action_id, executed_at) ON bank.execution TO bank_mcp;
GRANT INSERT (customer_id, action_id, conversation_id, kind, target_key, grounded_through) ON bank.pending_action TO bank_mcp;
GRANT UPDATE (state, superseded_by) ON bank.pending_action TO bank_mcp;
GRANT INSERT (customer_id, action_id, version, currency, from_account_id, card_id, order_id, transaction_id, frequency, start_date,
  dispute_reason, profile_field, rules_version, provenance_version) ON bank.pending_version TO bank_mcp;
GRANT INSERT (customer_id, action_id, version, line_number, payee_id, own_account_id, amount_minor_units) ON bank.pending_line TO bank_mcp;
GRANT INSERT (jti, customer_id) ON bank.used_request TO bank_mcp;
CREATE POLICY own_conversation ON bank.utterance FOR SELECT TO bank_mcp
  USING (customer_id = (SELECT bank.current_customer()) AND conversation_id = (SELECT bank.current_conversation()));
CREATE POLICY own_rows_bank ON bank.pending_action FOR SELECT TO bank_mcp USING (customer_id = (SELECT bank.current_customer()));
CREATE POLICY own_rows_bank ON bank.pending_version FOR SELECT TO bank_mcp USING (customer_id = (SELECT bank.current_customer()));
CREATE POLICY own_rows_bank ON bank.pending_line FOR SELECT TO bank_mcp USING (customer_id = (SELECT bank.current_customer()));
CREATE POLICY own_rows_bank ON bank.execution FOR SELECT TO bank_mcp USING (customer_id = (SELECT bank.current_customer()));
CREATE POLICY bank_asks ON bank.pending_action FOR INSERT TO bank_mcp
  WITH CHECK (customer_id = (SELECT bank.current_customer()) AND conversation_id = (SELECT bank.current_conversation())
    AND state = 'pending' AND current_version = 1);
CREATE POLICY bank_supersedes ON bank.pending_action FOR UPDATE TO bank_mcp
  USING (customer_id = (SELECT bank.current_customer()) AND conversation_id = (SELECT bank.current_conversation()) AND state = 'pending')
  WITH CHECK (customer_id = (SELECT bank.current_customer()) AND conversation_id = (SELECT bank.current_conversation()) AND state = 'superseded');
CREATE POLICY bank_asks ON bank.pending_version FOR INSERT TO bank_mcp
  WITH CHECK (customer_id = (SELECT bank.current_customer()) AND version = 1);
CREATE POLICY bank_asks ON bank.pending_line FOR INSERT TO bank_mcp
  WITH CHECK (customer_id = (SELECT bank.current_customer()) AND version = 1);
CREATE POLICY bank_uses_requests ON bank.used_request FOR INSERT TO bank_mcp
  WITH CHECK (customer_id = (SELECT bank.current_customer()));

-- panel: reads its customer's messages, moves their actions, writes new versions, entries and showings.
GRANT SELECT ON bank.utterance TO panel;
CREATE POLICY own_rows_panel ON bank.utterance FOR SELECT TO panel USING (customer_id = (SELECT bank.current_customer()));
GRANT UPDATE (state, current_version, reason, consumed_through) ON bank.pending_action TO panel;
CREATE POLICY panel_moves ON bank.pending_action FOR UPDATE TO panel
  USING (customer_id = (SELECT bank.current_customer()) AND state IN ('pending', 'held'))
  WITH CHECK (customer_id = (SELECT bank.current_customer()) AND state IN ('pending', 'cancelled', 'expired', 'held'));
GRANT INSERT (customer_id, action_id, version, currency, from_account_id, card_id, order_id, transaction_id, frequency, start_date,
  dispute_reason, profile_field, typed, rules_version, provenance_version) ON bank.pending_version TO panel;
CREATE POLICY panel_writes_versions ON bank.pending_version FOR INSERT TO panel
  WITH CHECK (customer_id = (SELECT bank.current_customer()) AND version > 1);
GRANT INSERT (customer_id, action_id, version, line_number, payee_id, own_account_id, amount_minor_units) ON bank.pending_line TO panel;
CREATE POLICY panel_writes_lines ON bank.pending_line FOR INSERT TO panel
  WITH CHECK (customer_id = (SELECT bank.current_customer()) AND version > 1);
GRANT INSERT (customer_id, action_id, version, slot, line_number, value) ON bank.panel_entry TO panel;
CREATE POLICY panel_records_entries ON bank.panel_entry FOR INSERT TO panel
  WITH CHECK (customer_id = (SELECT bank.current_customer()) AND version > 1);
GRANT INSERT (customer_id, nonce_hash, action_id, version, panel_grant_id, confirm_hash) ON bank.card_shown TO panel;
CREATE POLICY panel_records_showings ON bank.card_shown FOR INSERT TO panel
  WITH CHECK (customer_id = (SELECT bank.current_customer()) AND panel_grant_id = (SELECT bank.current_grant()));

-- The execution owner: everything a Confirm touches, through its functions alone.
GRANT SELECT, UPDATE (state, reason, consumed_through) ON bank.pending_action TO cs_executor;
GRANT SELECT (customer_id, conversation_id, sequence) ON bank.utterance TO cs_executor;
CREATE POLICY executor_counts_messages ON bank.utterance FOR SELECT TO cs_executor USING (true);
GRANT SELECT ON bank.pending_version, bank.pending_line, bank.panel_entry TO cs_executor;
GRANT SELECT, UPDATE (consumed_at) ON bank.card_shown TO cs_executor;
GRANT SELECT, INSERT ON bank.execution TO cs_executor;

-- What the chat page may know of requests: where each stands, and nothing of its values.
CREATE FUNCTION bank.action_status(conversation uuid)
  RETURNS TABLE (action_id uuid, kind text, state text, superseded_by uuid, changed_at timestamptz)
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  RETURN QUERY SELECT a.action_id, a.kind, a.state, a.superseded_by, a.changed_at
    FROM bank.pending_action a
   WHERE a.customer_id = (SELECT bank.current_customer()) AND a.conversation_id = conversation
   ORDER BY a.created_at DESC LIMIT 20;
END
$$;

-- Used tokens are kept past their life and then dropped, so that the table does not grow with history.
CREATE FUNCTION bank.forget_used_requests() RETURNS bigint
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  gone bigint;
BEGIN
  DELETE FROM bank.used_request WHERE used_at < bank.bank_clock() - interval '10 minutes';
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END
$$;
CREATE POLICY owner_forgets ON bank.used_request FOR ALL TO cs_owner USING (true) WITH CHECK (true);

GRANT EXECUTE ON FUNCTION bank.pending_expiry() TO bank_mcp;
GRANT EXECUTE ON FUNCTION bank.action_status(uuid) TO intake;
GRANT EXECUTE ON FUNCTION bank.forget_used_requests() TO sweeper;

RESET ROLE;
GRANT CREATE ON SCHEMA bank TO cs_executor;
ALTER FUNCTION bank.action_status(uuid) OWNER TO cs_executor;
REVOKE CREATE ON SCHEMA bank FROM cs_executor;
