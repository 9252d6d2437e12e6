-- The second channel, and the way to stop everything.
--
-- A notice is written in the transaction of what it tells. The customer reads it on the panel; an outbox row for each further
-- channel is delivered by the relay, at least once and in order. Each notice can be answered once with "this was not me", without
-- a login: that stops outgoing payments, and can do nothing else.
SET LOCAL ROLE cs_owner;

ALTER TABLE bank.setting
  -- Which channels there are beside the panel.
  ADD COLUMN notice_channels text[] NOT NULL DEFAULT '{}' CONSTRAINT notice_channels_known CHECK (notice_channels <@ ARRAY['email', 'webhook']),
  -- For this long a notice can be answered with "this was not me".
  ADD COLUMN not_me_seconds integer NOT NULL DEFAULT 604800 CONSTRAINT not_me_seconds_range CHECK (not_me_seconds BETWEEN 3600 AND 2592000);

CREATE TABLE bank.notice (
  customer_id uuid NOT NULL REFERENCES bank.customer,
  number bigint NOT NULL CONSTRAINT notice_number_positive CHECK (number > 0),
  kind text NOT NULL CONSTRAINT notice_kind CHECK (kind IN ('confirmed', 'held', 'not_sent', 'undone', 'login', 'frozen', 'unfrozen', 'changed')),
  -- The button the customer pressed, in the words of the record; empty where there was none.
  about text NOT NULL DEFAULT '' CONSTRAINT notice_about_length CHECK (length(about) <= 500),
  short_code text NOT NULL DEFAULT '' CONSTRAINT notice_code_form CHECK (short_code ~ '^([0-9A-Z]{4}-[0-9A-Z]{4})?$'),
  action_id uuid,
  made_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  read_at timestamptz,
  not_me_hash bytea NOT NULL CONSTRAINT not_me_is_unique UNIQUE CONSTRAINT not_me_hash_length CHECK (length(not_me_hash) = 32),
  not_me_until timestamptz NOT NULL,
  not_me_at timestamptz,
  PRIMARY KEY (customer_id, number)
);
CREATE INDEX notice_unread ON bank.notice (customer_id) WHERE read_at IS NULL;

CREATE TABLE bank.outbox (
  customer_id uuid NOT NULL,
  number bigint NOT NULL,
  channel text NOT NULL CONSTRAINT outbox_channel CHECK (channel IN ('email', 'webhook')),
  -- Where the customer was to be reached when it was written: a change of address is told to the old one.
  address text NOT NULL CONSTRAINT outbox_address_length CHECK (length(address) <= 320),
  state text NOT NULL DEFAULT 'waiting' CONSTRAINT outbox_state CHECK (state IN ('waiting', 'sent', 'dead')),
  -- The one-use word of the link; gone once it is sent or given up.
  not_me_secret text CONSTRAINT outbox_secret_form CHECK (not_me_secret ~ '^[0-9a-f]{64}$'),
  attempts integer NOT NULL DEFAULT 0,
  next_try_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  failed_with text CONSTRAINT outbox_failure_length CHECK (length(failed_with) <= 60),
  ended_at timestamptz,
  PRIMARY KEY (customer_id, number, channel),
  FOREIGN KEY (customer_id, number) REFERENCES bank.notice,
  CONSTRAINT ended_without_its_secret CHECK ((state = 'waiting') = (not_me_secret IS NOT NULL) AND (state = 'waiting') = (ended_at IS NULL))
);
CREATE INDEX outbox_due ON bank.outbox (next_try_at) WHERE state = 'waiting';
CREATE INDEX outbox_in_order ON bank.outbox (customer_id, channel, number) WHERE state = 'waiting';

-- While one is open, nothing leaves.
CREATE TABLE bank.payment_freeze (
  customer_id uuid NOT NULL REFERENCES bank.customer,
  freeze_id uuid NOT NULL,
  how text NOT NULL CONSTRAINT freeze_how CHECK (how IN ('freeze', 'not_me')),
  frozen_at timestamptz NOT NULL,
  lifted_at timestamptz,
  PRIMARY KEY (customer_id, freeze_id)
);
CREATE UNIQUE INDEX one_open_freeze ON bank.payment_freeze (customer_id) WHERE lifted_at IS NULL;

ALTER TABLE bank.undo DROP CONSTRAINT undo_how;
ALTER TABLE bank.undo ADD CONSTRAINT undo_how CHECK (how IN ('undo', 'freeze', 'not_me'));

DO $wall$
DECLARE
  name text;
  kinds text;
BEGIN
  FOREACH name IN ARRAY ARRAY['notice', 'outbox', 'payment_freeze'] LOOP
    EXECUTE format('ALTER TABLE bank.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE bank.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY executor_acts ON bank.%I FOR ALL TO cs_executor USING (true) WITH CHECK (true)', name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['notice', 'payment_freeze'] LOOP
    EXECUTE format('CREATE POLICY own_rows ON bank.%I FOR SELECT TO panel USING (customer_id = (SELECT bank.current_customer()))', name);
  END LOOP;
  -- The kinds of event that there are by now, and three more.
  SELECT pg_catalog.pg_get_constraintdef(c.oid) INTO STRICT kinds FROM pg_catalog.pg_constraint c
   WHERE c.conrelid = 'bank.bank_event'::regclass AND c.conname = 'event_kind';
  kinds := regexp_replace(kinds, '\]\)*$', '');
  kinds := substring(kinds FROM position('ARRAY[' IN kinds));
  ALTER TABLE bank.bank_event DROP CONSTRAINT event_kind;
  EXECUTE format('ALTER TABLE bank.bank_event ADD CONSTRAINT event_kind CHECK (kind = ANY (%s, ''frozen'', ''unfrozen'', ''logged_in'']))', kinds);
END
$wall$;
GRANT SELECT (customer_id, number, kind, about, short_code, action_id, made_at, read_at, not_me_until, not_me_at), UPDATE (read_at)
  ON bank.notice TO panel;
CREATE POLICY own_rows_are_read ON bank.notice FOR UPDATE TO panel
  USING (customer_id = (SELECT bank.current_customer()) AND read_at IS NULL) WITH CHECK (customer_id = (SELECT bank.current_customer()));
GRANT SELECT ON bank.payment_freeze TO panel;
GRANT SELECT, INSERT, UPDATE (not_me_at) ON bank.notice TO cs_executor;
GRANT SELECT, INSERT, UPDATE (state, not_me_secret, attempts, next_try_at, failed_with, ended_at) ON bank.outbox TO cs_executor;
GRANT SELECT, INSERT, UPDATE (lifted_at) ON bank.payment_freeze TO cs_executor;

GRANT USAGE ON SCHEMA bank TO relay;
GRANT EXECUTE ON FUNCTION bank.bank_clock() TO relay;

-- When the session's login was: what undoes a precaution asks for a fresh one.
CREATE FUNCTION bank.session_began() RETURNS timestamptz
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  RETURN (SELECT g.created_at FROM bank.session_grant g WHERE g.grant_id = bank.current_grant());
END
$$;
GRANT EXECUTE ON FUNCTION bank.session_began() TO panel, cs_executor;

RESET ROLE;
GRANT CREATE ON SCHEMA bank TO cs_lookup;
ALTER FUNCTION bank.session_began() OWNER TO cs_lookup;
REVOKE CREATE ON SCHEMA bank FROM cs_lookup;
