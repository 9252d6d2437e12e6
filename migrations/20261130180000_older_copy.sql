-- When the database that answers is an older copy, or another history, than the panel remembers: what was noticed, and which person of
-- the bank accepted it. The acceptance is an event of the log itself, in a chain of its own, since it is no customer's.
SET LOCAL ROLE cs_owner;

CREATE TABLE bank.log_gap (
  gap_id uuid PRIMARY KEY,
  -- The head that a panel remembers and this database does not have.
  remembered_size bigint NOT NULL CONSTRAINT gap_remembers_something CHECK (remembered_size > 0),
  remembered_root bytea NOT NULL CONSTRAINT gap_root_length CHECK (length(remembered_root) = 32),
  -- How many leaves the newest head of this database has.
  found_size bigint NOT NULL CONSTRAINT gap_found_size CHECK (found_size >= 0),
  noticed_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  accepted_at timestamptz,
  accepted_by text CONSTRAINT gap_accepted_by CHECK (accepted_by ~ '^[a-z0-9][a-z0-9._@-]{0,79}$'),
  CONSTRAINT gap_once UNIQUE (remembered_size, remembered_root),
  CONSTRAINT gap_accepted_by_somebody CHECK ((accepted_at IS NULL) = (accepted_by IS NULL))
);

CREATE TABLE bank.log_event (
  sequence bigint PRIMARY KEY CONSTRAINT log_event_sequence_positive CHECK (sequence > 0),
  kind text NOT NULL CONSTRAINT log_event_kind CHECK (kind IN ('gap_accepted')),
  -- As in bank_event: RFC 8785 bytes, the leaf over them, the chain over the leaves.
  payload bytea NOT NULL CONSTRAINT log_event_payload_length CHECK (length(payload) BETWEEN 2 AND 65536),
  leaf_hash bytea NOT NULL CONSTRAINT log_event_leaf_length CHECK (length(leaf_hash) = 32),
  chain_hash bytea NOT NULL CONSTRAINT log_event_chain_length CHECK (length(chain_hash) = 32),
  recorded_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  leaf_index bigint CONSTRAINT log_event_leaf_once UNIQUE
);

CREATE FUNCTION bank.guard_log_event() RETURNS trigger
  LANGUAGE plpgsql SET search_path = ''
  AS $$
BEGIN
  IF OLD.leaf_index IS NOT NULL OR NEW.leaf_index IS NULL
     OR (NEW.sequence, NEW.kind, NEW.payload, NEW.leaf_hash, NEW.chain_hash, NEW.recorded_at)
        IS DISTINCT FROM (OLD.sequence, OLD.kind, OLD.payload, OLD.leaf_hash, OLD.chain_hash, OLD.recorded_at) THEN
    RAISE EXCEPTION 'an event only ever gets its place in the log' USING ERRCODE = 'CS011';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER log_event_only_gets_its_place BEFORE UPDATE ON bank.log_event FOR EACH ROW EXECUTE FUNCTION bank.guard_log_event();
CREATE TRIGGER log_event_is_never_deleted BEFORE DELETE ON bank.log_event FOR EACH ROW EXECUTE FUNCTION bank.refuse_change();
CREATE TRIGGER gap_is_never_deleted BEFORE DELETE ON bank.log_gap FOR EACH ROW EXECUTE FUNCTION bank.refuse_change();

ALTER TABLE bank.log_gap ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.log_gap FORCE ROW LEVEL SECURITY;
ALTER TABLE bank.log_event ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.log_event FORCE ROW LEVEL SECURITY;

-- The functions of migrations/execution/older_copy.sql alone.
GRANT SELECT ON bank.log_checkpoint TO cs_executor;
CREATE POLICY executor_compares ON bank.log_checkpoint FOR SELECT TO cs_executor USING (true);
GRANT SELECT, INSERT, UPDATE (accepted_at, accepted_by) ON bank.log_gap TO cs_executor;
CREATE POLICY executor_keeps_gaps ON bank.log_gap FOR ALL TO cs_executor USING (true) WITH CHECK (true);
GRANT SELECT, INSERT ON bank.log_event TO cs_executor;
CREATE POLICY executor_reads_log_events ON bank.log_event FOR SELECT TO cs_executor USING (true);
CREATE POLICY executor_appends_log_events ON bank.log_event FOR INSERT TO cs_executor WITH CHECK (leaf_index IS NULL);
-- The notary sees hashes and places, not payloads.
GRANT SELECT (sequence, leaf_hash, recorded_at, leaf_index), UPDATE (leaf_index) ON bank.log_event TO notary;
CREATE POLICY notary_gathers_log_events ON bank.log_event FOR SELECT TO notary USING (true);
CREATE POLICY notary_places_log_events ON bank.log_event FOR UPDATE TO notary USING (leaf_index IS NULL) WITH CHECK (leaf_index IS NOT NULL);
RESET ROLE;
