-- People of the bank decide about holds and recoveries, each by a login of their own that may do this and nothing else, and what they
-- decided stands in the customer's chain beside who did. A customer hears of every change of their passkeys.
SET LOCAL ROLE cs_owner;

DROP FUNCTION IF EXISTS bank.approve_recovery(uuid, uuid);
ALTER TABLE bank.passkey_recovery ADD COLUMN approved_by text
  CONSTRAINT recovery_approved_by CHECK (approved_by ~ '^[a-z0-9][a-z0-9._@-]{0,79}$');
REVOKE UPDATE (approved_at) ON bank.passkey_recovery FROM cs_owner;
DROP POLICY owner_approves ON bank.passkey_recovery;
GRANT UPDATE (approved_at, approved_by) ON bank.passkey_recovery TO cs_executor;
GRANT USAGE ON SCHEMA bank TO cs_operator;

ALTER TABLE bank.notice DROP CONSTRAINT notice_kind;
ALTER TABLE bank.notice ADD CONSTRAINT notice_kind CHECK (kind IN ('confirmed', 'held', 'not_sent', 'undone', 'login', 'frozen', 'unfrozen',
  'changed', 'passkey_enrolled', 'passkey_removed', 'recovery_asked', 'recovery_approved', 'recovery_ended'));

DO $kinds$
DECLARE
  kinds text;
BEGIN
  -- The kinds of event that there are by now, and two more.
  SELECT pg_catalog.pg_get_constraintdef(c.oid) INTO STRICT kinds FROM pg_catalog.pg_constraint c
   WHERE c.conrelid = 'bank.bank_event'::regclass AND c.conname = 'event_kind';
  kinds := regexp_replace(kinds, '\]\)*$', '');
  kinds := substring(kinds FROM position('ARRAY[' IN kinds));
  ALTER TABLE bank.bank_event DROP CONSTRAINT event_kind;
  EXECUTE format('ALTER TABLE bank.bank_event ADD CONSTRAINT event_kind CHECK (kind = ANY (%s, ''hold_allowed'', ''recovery_approved'']))', kinds);
END
$kinds$;

RESET ROLE;
