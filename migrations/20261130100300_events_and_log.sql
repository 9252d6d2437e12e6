-- The record of what the bank decided: a hash chain per customer, written in the transaction of what it records, and one
-- Merkle log over all of them, gathered and signed by the notary.
SET LOCAL ROLE cs_owner;

CREATE TABLE bank.event_head (
  customer_id uuid PRIMARY KEY REFERENCES bank.customer,
  sequence bigint NOT NULL DEFAULT 0,
  chain_hash bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex') CONSTRAINT head_hash_length CHECK (length(chain_hash) = 32)
);

CREATE TABLE bank.bank_event (
  customer_id uuid NOT NULL REFERENCES bank.customer,
  sequence bigint NOT NULL CONSTRAINT event_sequence_positive CHECK (sequence > 0),
  kind text NOT NULL CONSTRAINT event_kind CHECK (kind IN ('request_created', 'superseded', 'cancelled', 'expired', 'refused', 'slot_filled', 'kept',
    'card_shown', 'confirmed', 'posted')),
  action_id uuid,
  -- RFC 8785 bytes; the leaf is SHA-256(0x00 ‖ payload) (RFC 6962 §2.1).
  payload bytea NOT NULL CONSTRAINT event_payload_length CHECK (length(payload) BETWEEN 2 AND 65536),
  leaf_hash bytea NOT NULL CONSTRAINT event_leaf_length CHECK (length(leaf_hash) = 32),
  -- SHA-256(previous chain hash ‖ leaf hash).
  chain_hash bytea NOT NULL CONSTRAINT event_chain_length CHECK (length(chain_hash) = 32),
  recorded_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  -- Where the notary put it; NULL until then.
  leaf_index bigint CONSTRAINT event_leaf_once UNIQUE,
  PRIMARY KEY (customer_id, sequence)
);
CREATE INDEX event_ungathered ON bank.bank_event (recorded_at) WHERE leaf_index IS NULL;
CREATE INDEX event_by_action ON bank.bank_event (customer_id, action_id) WHERE action_id IS NOT NULL;

-- Hashes of the bank's log, so that a proof costs its length and not the history. No customer stands in them.
CREATE TABLE bank.log_node (
  level smallint NOT NULL,
  node_index bigint NOT NULL,
  hash bytea NOT NULL CONSTRAINT node_hash_length CHECK (length(hash) = 32),
  PRIMARY KEY (level, node_index)
);
CREATE TABLE bank.log_checkpoint (
  tree_size bigint PRIMARY KEY,
  root_hash bytea NOT NULL CONSTRAINT root_hash_length CHECK (length(root_hash) = 32),
  -- The signed note (C2SP tlog-checkpoint).
  note text NOT NULL,
  signed_at timestamptz NOT NULL DEFAULT bank.bank_clock()
);

CREATE FUNCTION bank.guard_event() RETURNS trigger
  LANGUAGE plpgsql SET search_path = ''
  AS $$
BEGIN
  IF OLD.leaf_index IS NOT NULL OR NEW.leaf_index IS NULL
     OR (NEW.customer_id, NEW.sequence, NEW.kind, NEW.payload, NEW.leaf_hash, NEW.chain_hash, NEW.recorded_at)
        IS DISTINCT FROM (OLD.customer_id, OLD.sequence, OLD.kind, OLD.payload, OLD.leaf_hash, OLD.chain_hash, OLD.recorded_at)
     OR NEW.action_id IS DISTINCT FROM OLD.action_id THEN
    RAISE EXCEPTION 'an event only ever gets its place in the log' USING ERRCODE = 'CS011';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER event_only_gets_its_place BEFORE UPDATE ON bank.bank_event FOR EACH ROW EXECUTE FUNCTION bank.guard_event();
CREATE TRIGGER event_is_never_deleted BEFORE DELETE ON bank.bank_event FOR EACH ROW EXECUTE FUNCTION bank.refuse_change();
CREATE TRIGGER node_is_append_only BEFORE UPDATE OR DELETE ON bank.log_node FOR EACH ROW EXECUTE FUNCTION bank.refuse_change();
CREATE TRIGGER checkpoint_is_append_only BEFORE UPDATE OR DELETE ON bank.log_checkpoint FOR EACH ROW EXECUTE FUNCTION bank.refuse_change();

-- Appends an event to a customer's chain and returns its sequence. Not callable by any login.
CREATE FUNCTION bank.append_event_for(which uuid, event_kind text, event_action uuid, event_payload bytea) RETURNS bigint
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  head bank.event_head;
  leaf bytea;
BEGIN
  SELECT * INTO head FROM bank.event_head h WHERE h.customer_id = which FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no event chain' USING ERRCODE = 'CS002';
  END IF;
  leaf := pg_catalog.sha256('\x00'::bytea || event_payload);
  head.sequence := head.sequence + 1;
  head.chain_hash := pg_catalog.sha256(head.chain_hash || leaf);
  INSERT INTO bank.bank_event (customer_id, sequence, kind, action_id, payload, leaf_hash, chain_hash)
  VALUES (which, head.sequence, event_kind, event_action, event_payload, leaf, head.chain_hash);
  UPDATE bank.event_head SET sequence = head.sequence, chain_hash = head.chain_hash WHERE customer_id = which;
  RETURN head.sequence;
END
$$;

-- The same for the customer of the session, and only with the kinds of event that this login may cause.
CREATE FUNCTION bank.append_event(event_kind text, event_action uuid, event_payload bytea) RETURNS bigint
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  which uuid := bank.current_customer();
BEGIN
  IF which IS NULL THEN
    RAISE EXCEPTION 'no live session' USING ERRCODE = 'CS001';
  END IF;
  IF NOT ((session_user = 'bank_mcp' AND event_kind IN ('request_created', 'superseded'))
       OR (session_user = 'panel' AND event_kind IN ('card_shown', 'cancelled', 'slot_filled', 'kept', 'expired'))) THEN
    RAISE EXCEPTION 'this login does not record that' USING ERRCODE = 'CS003';
  END IF;
  RETURN bank.append_event_for(which, event_kind, event_action, event_payload);
END
$$;

ALTER TABLE bank.event_head ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.event_head FORCE ROW LEVEL SECURITY;
ALTER TABLE bank.bank_event ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.bank_event FORCE ROW LEVEL SECURITY;
ALTER TABLE bank.log_node ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.log_node FORCE ROW LEVEL SECURITY;
ALTER TABLE bank.log_checkpoint ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.log_checkpoint FORCE ROW LEVEL SECURITY;

GRANT SELECT, UPDATE ON bank.event_head TO cs_recorder;
GRANT INSERT ON bank.bank_event TO cs_recorder;
CREATE POLICY recorder_keeps_heads ON bank.event_head FOR ALL TO cs_recorder USING (true) WITH CHECK (true);
CREATE POLICY recorder_appends ON bank.bank_event FOR INSERT TO cs_recorder WITH CHECK (leaf_index IS NULL);

GRANT SELECT ON bank.bank_event TO panel;
CREATE POLICY own_rows ON bank.bank_event FOR SELECT TO panel USING (customer_id = (SELECT bank.current_customer()));
GRANT SELECT ON bank.log_node, bank.log_checkpoint TO panel, notary;
CREATE POLICY hashes_are_for_proofs ON bank.log_node FOR SELECT TO panel, notary USING (true);
CREATE POLICY checkpoints_are_for_proofs ON bank.log_checkpoint FOR SELECT TO panel, notary USING (true);

-- The notary sees hashes and places, not payloads.
GRANT SELECT (customer_id, sequence, leaf_hash, recorded_at, leaf_index), UPDATE (leaf_index) ON bank.bank_event TO notary;
CREATE POLICY notary_gathers ON bank.bank_event FOR SELECT TO notary USING (true);
CREATE POLICY notary_places ON bank.bank_event FOR UPDATE TO notary USING (leaf_index IS NULL) WITH CHECK (leaf_index IS NOT NULL);
GRANT INSERT (level, node_index, hash) ON bank.log_node TO notary;
CREATE POLICY notary_appends ON bank.log_node FOR INSERT TO notary WITH CHECK (true);
GRANT INSERT (tree_size, root_hash, note) ON bank.log_checkpoint TO notary;
CREATE POLICY notary_signs ON bank.log_checkpoint FOR INSERT TO notary WITH CHECK (true);

GRANT EXECUTE ON FUNCTION bank.append_event(text, uuid, bytea) TO bank_mcp, panel;
GRANT EXECUTE ON FUNCTION bank.append_event_for(uuid, text, uuid, bytea) TO cs_executor, cs_recorder;

RESET ROLE;
GRANT CREATE ON SCHEMA bank TO cs_recorder;
ALTER FUNCTION bank.append_event_for(uuid, text, uuid, bytea) OWNER TO cs_recorder;
ALTER FUNCTION bank.append_event(text, uuid, bytea) OWNER TO cs_recorder;
REVOKE CREATE ON SCHEMA bank FROM cs_recorder;
