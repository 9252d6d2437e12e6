-- Step-up: passkeys, the challenges they answer, and getting back in when they are lost.
--
-- The wall stands in `confirm_action`: where a step-up is due, it wants the answered challenge of this very record, showing and
-- note, and finds by itself whether one is due. The panel verifies the signature and hands over the bytes; the database reads the
-- rest in them itself: which challenge, which kind of prompt, whether somebody was verified, whether the counter grew. The bytes
-- stay, so that anybody with the public key can verify every step-up again.
SET LOCAL ROLE cs_owner;

ALTER TABLE bank.setting
  -- How old a challenge may be when it is answered, and an answer when it is used.
  ADD COLUMN step_up_seconds integer NOT NULL DEFAULT 60
    CONSTRAINT step_up_seconds_range CHECK (step_up_seconds BETWEEN 10 AND 300),
  -- A first passkey is taken within this time after the login.
  ADD COLUMN passkey_login_seconds integer NOT NULL DEFAULT 300
    CONSTRAINT passkey_login_seconds_range CHECK (passkey_login_seconds BETWEEN 60 AND 86400),
  -- So long, what goes out under a passkey that no older one vouched for counts together against the limit of a first payment.
  ADD COLUMN passkey_new_seconds integer NOT NULL DEFAULT 86400
    CONSTRAINT passkey_new_seconds_range CHECK (passkey_new_seconds BETWEEN 0 AND 2592000),
  -- How long a customer who lost every passkey waits.
  ADD COLUMN passkey_recovery_seconds integer NOT NULL DEFAULT 259200
    CONSTRAINT passkey_recovery_seconds_range CHECK (passkey_recovery_seconds BETWEEN 3600 AND 2592000);

-- More than this in one request wants a passkey. Unset: the limit of a first payment.
ALTER TABLE bank.customer_limit ADD COLUMN step_up_over_minor_units bigint
  CONSTRAINT step_up_over_positive CHECK (step_up_over_minor_units >= 0);

CREATE TABLE bank.passkey (
  customer_id uuid NOT NULL REFERENCES bank.customer,
  passkey_id uuid NOT NULL,
  credential_id bytea NOT NULL CONSTRAINT credential_id_length CHECK (length(credential_id) BETWEEN 1 AND 1023),
  credential_hash bytea NOT NULL CONSTRAINT credential_hash_fits CHECK (credential_hash = sha256(credential_id)),
  -- The verifying library's form, with the public key.
  credential jsonb NOT NULL CONSTRAINT credential_size CHECK (pg_column_size(credential) <= 16384),
  -- The highest counter seen. One that stays at 0 is a synced passkey.
  sign_count bigint NOT NULL DEFAULT 0 CONSTRAINT sign_count_range CHECK (sign_count BETWEEN 0 AND 4294967295),
  name text NOT NULL CONSTRAINT passkey_name_length CHECK (length(name) BETWEEN 1 AND 60),
  synced boolean NOT NULL,
  -- Whether an older passkey of the customer agreed to it.
  vouched boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  last_used_at timestamptz,
  removed_at timestamptz,
  PRIMARY KEY (customer_id, passkey_id),
  CONSTRAINT passkey_enrolled_once UNIQUE (customer_id, credential_hash)
);

CREATE TABLE bank.step_up (
  customer_id uuid NOT NULL REFERENCES bank.customer,
  challenge bytea NOT NULL CONSTRAINT challenge_length CHECK (length(challenge) = 32),
  -- 'confirm': the challenge is SHA-256(H ‖ nonce ‖ SHA-256(note)). 'enrol': a new passkey answers. 'manage': to add or remove one.
  purpose text NOT NULL CONSTRAINT step_up_purpose CHECK (purpose IN ('confirm', 'enrol', 'manage')),
  action_id uuid,
  panel_grant_id uuid NOT NULL REFERENCES bank.session_grant,
  issued_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  passkey_id uuid,
  client_data bytea,
  authenticator_data bytea,
  signature bytea,
  answered_at timestamptz,
  used_at timestamptz,
  PRIMARY KEY (customer_id, challenge),
  FOREIGN KEY (customer_id, action_id) REFERENCES bank.pending_action,
  FOREIGN KEY (customer_id, passkey_id) REFERENCES bank.passkey,
  CONSTRAINT confirm_names_its_action CHECK ((purpose = 'confirm') = (action_id IS NOT NULL)),
  CONSTRAINT an_answer_is_whole CHECK (answered_at IS NULL OR purpose = 'enrol'
    OR (passkey_id IS NOT NULL AND client_data IS NOT NULL AND authenticator_data IS NOT NULL AND signature IS NOT NULL)),
  CONSTRAINT answer_size CHECK (coalesce(length(client_data), 0) <= 8192 AND coalesce(length(authenticator_data), 0) <= 4096
    AND coalesce(length(signature), 0) <= 1024)
);
CREATE INDEX step_up_by_action ON bank.step_up (customer_id, action_id) WHERE used_at IS NOT NULL;

-- A customer who lost every passkey. Until it ended, nothing that wants a passkey is done.
CREATE TABLE bank.passkey_recovery (
  customer_id uuid NOT NULL REFERENCES bank.customer,
  recovery_id uuid NOT NULL,
  asked_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  -- By the bank's people, after they made sure who asks.
  approved_at timestamptz,
  ended_at timestamptz,
  outcome text CONSTRAINT recovery_outcome CHECK (outcome IN ('cancelled', 'completed')),
  PRIMARY KEY (customer_id, recovery_id),
  CONSTRAINT ended_with_an_outcome CHECK ((ended_at IS NULL) = (outcome IS NULL))
);
CREATE UNIQUE INDEX one_open_recovery ON bank.passkey_recovery (customer_id) WHERE ended_at IS NULL;

-- What a request replaced, without a walk over the customer's history.
CREATE INDEX action_by_successor ON bank.pending_action (customer_id, superseded_by) WHERE superseded_by IS NOT NULL;

CREATE FUNCTION bank.guard_step_up() RETURNS trigger
  LANGUAGE plpgsql SET search_path = ''
  AS $$
BEGIN
  IF OLD.used_at IS NOT NULL
     OR (NEW.customer_id, NEW.challenge, NEW.purpose, NEW.panel_grant_id) IS DISTINCT FROM (OLD.customer_id, OLD.challenge, OLD.purpose, OLD.panel_grant_id)
     OR NEW.action_id IS DISTINCT FROM OLD.action_id THEN
    RAISE EXCEPTION 'a used challenge never changes' USING ERRCODE = 'CS011';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER step_up_is_used_once BEFORE UPDATE ON bank.step_up FOR EACH ROW EXECUTE FUNCTION bank.guard_step_up();

DO $wall$
DECLARE
  name text;
  kinds text;
BEGIN
  FOREACH name IN ARRAY ARRAY['passkey', 'step_up', 'passkey_recovery'] LOOP
    EXECUTE format('ALTER TABLE bank.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE bank.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY executor_acts ON bank.%I FOR ALL TO cs_executor USING (true) WITH CHECK (true)', name);
    EXECUTE format('CREATE POLICY own_rows ON bank.%I FOR SELECT TO panel USING (customer_id = (SELECT bank.current_customer()))', name);
    EXECUTE format('GRANT SELECT ON bank.%I TO panel', name);
  END LOOP;
  -- The kinds of event that there are by now, and four more.
  SELECT pg_catalog.pg_get_constraintdef(c.oid) INTO STRICT kinds FROM pg_catalog.pg_constraint c
   WHERE c.conrelid = 'bank.bank_event'::regclass AND c.conname = 'event_kind';
  kinds := regexp_replace(kinds, '\]\)*$', '');
  kinds := substring(kinds FROM position('ARRAY[' IN kinds));
  ALTER TABLE bank.bank_event DROP CONSTRAINT event_kind;
  EXECUTE format('ALTER TABLE bank.bank_event ADD CONSTRAINT event_kind CHECK (kind = ANY (%s, ''passkey_enrolled'', ''passkey_removed'',
    ''recovery_asked'', ''recovery_ended'']))', kinds);
END
$wall$;

GRANT INSERT, SELECT, UPDATE (sign_count, name, last_used_at, removed_at) ON bank.passkey TO cs_executor;
GRANT INSERT, SELECT, DELETE,
  UPDATE (issued_at, passkey_id, client_data, authenticator_data, signature, answered_at, used_at) ON bank.step_up TO cs_executor;
GRANT INSERT, SELECT, UPDATE (ended_at, outcome) ON bank.passkey_recovery TO cs_executor;
GRANT SELECT (grant_id, created_at) ON bank.session_grant TO cs_executor;
CREATE POLICY executor_dates_sessions ON bank.session_grant FOR SELECT TO cs_executor USING (true);

-- The bank's people approve a recovery, by the owner's hand and no login's.
GRANT SELECT, UPDATE (approved_at) ON bank.passkey_recovery TO cs_owner;
CREATE POLICY owner_approves ON bank.passkey_recovery FOR ALL TO cs_owner USING (true) WITH CHECK (true);
CREATE FUNCTION bank.approve_recovery(who uuid, which uuid) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
BEGIN
  UPDATE bank.passkey_recovery SET approved_at = bank.bank_clock()
   WHERE customer_id = who AND recovery_id = which AND ended_at IS NULL AND approved_at IS NULL;
  RETURN FOUND;
END
$$;

RESET ROLE;
