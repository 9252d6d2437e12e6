-- Notices and the stop, part of the execution path: what tells a customer elsewhere, and what stops everything that leaves.
--
-- Applied with execution.sql and again whenever it changes; owned by cs_executor like everything there.

-- A value that a record displayed, by its label; empty where there is none.
CREATE OR REPLACE FUNCTION bank.shown_in(record bytea, wanted text) RETURNS text
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
BEGIN
  RETURN coalesce((SELECT each ->> 'value' FROM pg_catalog.jsonb_array_elements(pg_catalog.convert_from(record, 'UTF8')::jsonb -> 'display') AS each
    WHERE each ->> 'label' = wanted LIMIT 1), '');
END
$$;

-- The code by which people find a receipt again, as the panel computes it: eight letters of what was executed.
CREATE OR REPLACE FUNCTION bank.short_code_of(executed_hash bytea) RETURNS text
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
DECLARE
  letters text := '0123456789BCDFGHJKLMNPQRSTVWXYZ';
  code text := '';
BEGIN
  FOR place IN 0..7 LOOP
    code := code || CASE WHEN place = 4 THEN '-' ELSE '' END || pg_catalog.substr(letters, pg_catalog.get_byte(executed_hash, place) % 31 + 1, 1);
  END LOOP;
  RETURN code;
END
$$;

-- Tells the customer, in the transaction of what is told: on the panel, and by every channel there is. The caller holds the lock.
CREATE OR REPLACE FUNCTION bank.notify(who uuid, what text, about text, which uuid, code text) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
DECLARE
  secret text := pg_catalog.replace(pg_catalog.gen_random_uuid()::text || pg_catalog.gen_random_uuid()::text, '-', '');
  setting bank.setting;
  next bigint;
BEGIN
  SELECT * INTO STRICT setting FROM bank.setting;
  SELECT coalesce(max(n.number), 0) + 1 INTO next FROM bank.notice n WHERE n.customer_id = who;
  INSERT INTO bank.notice (customer_id, number, kind, about, short_code, action_id, not_me_hash, not_me_until)
  VALUES (who, next, what, pg_catalog.left(about, 500), code, which, pg_catalog.sha256(pg_catalog.convert_to(secret, 'UTF8')),
    bank.bank_clock() + setting.not_me_seconds * interval '1 second');
  INSERT INTO bank.outbox (customer_id, number, channel, address, not_me_secret)
  SELECT who, next, channel, coalesce(CASE WHEN channel = 'email' THEN pg_catalog.left(p.email, 320) END, ''), secret
    FROM pg_catalog.unnest(setting.notice_channels) AS channel LEFT JOIN bank.profile p ON p.customer_id = who
   WHERE channel <> 'email' OR coalesce(p.email, '') <> '';
  PERFORM pg_catalog.pg_notify('countersign_wake', '');
END
$$;

-- An event about the customer and no request, in RFC 8785 form.
CREATE OR REPLACE FUNCTION bank.record_about_customer(who uuid, event_kind text, by_what text) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
BEGIN
  PERFORM bank.append_event_for(who, event_kind, NULL, pg_catalog.convert_to(pg_catalog.format(
    '{"at":"%s","by":"%s","customer":"%s","event":"%s"}',
    pg_catalog.to_char(bank.bank_clock() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), by_what,
    'cus_' || pg_catalog.replace(who::text, '-', ''), event_kind), 'UTF8'));
END
$$;

-- A login, told to the customer. Called in the new session.
CREATE OR REPLACE FUNCTION bank.note_login() RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  who uuid := bank.lock_customer();
BEGIN
  PERFORM bank.record_about_customer(who, 'logged_in', 'login');
  PERFORM bank.notify(who, 'login', '', NULL, '');
END
$$;

CREATE OR REPLACE FUNCTION bank.is_frozen(who uuid) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
BEGIN
  RETURN EXISTS (SELECT FROM bank.payment_freeze f WHERE f.customer_id = who AND f.lifted_at IS NULL);
END
$$;

-- Whether a kind of action may take effect while outgoing payments are stopped: what makes less leave may.
CREATE OR REPLACE FUNCTION bank.may_while_frozen(kind text) RETURNS boolean
  LANGUAGE plpgsql IMMUTABLE SET search_path = ''
  AS $$
BEGIN
  RETURN kind IN ('card_freeze', 'standing_order_cancel', 'dispute');
END
$$;

-- Stops everything that leaves: voids what can still be undone, ends what is held, and lets nothing be confirmed until the customer
-- lifts it. The caller holds the lock. Says whether it was open before.
CREATE OR REPLACE FUNCTION bank.freeze_outgoing(who uuid, by_what text) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
DECLARE
  moment timestamptz := bank.bank_clock();
  each record;
BEGIN
  IF bank.is_frozen(who) THEN
    RETURN false;
  END IF;
  INSERT INTO bank.payment_freeze (customer_id, freeze_id, how, frozen_at) VALUES (who, pg_catalog.gen_random_uuid(), by_what, moment);
  PERFORM bank.record_about_customer(who, 'frozen', by_what);
  FOR each IN SELECT DISTINCT t.action_id FROM bank.transfer t
    WHERE t.customer_id = who AND t.state = 'reserved' AND t.leaving_at IS NULL AND t.post_after > moment AND t.action_id IS NOT NULL LOOP
    PERFORM bank.void_action(who, each.action_id, by_what);
  END LOOP;
  FOR each IN SELECT a.action_id FROM bank.pending_action a WHERE a.customer_id = who AND a.state = 'held' LOOP
    PERFORM bank.end_action(who, each.action_id, 'cancelled', 'frozen');
  END LOOP;
  PERFORM bank.notify(who, 'frozen', '', NULL, '');
  RETURN true;
END
$$;

-- Freeze-all, by the customer of the session. The same again is the same.
CREATE OR REPLACE FUNCTION bank.freeze_payments() RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  RETURN bank.freeze_outgoing(bank.lock_customer(), 'freeze');
END
$$;

-- Lifts a freeze, in a session that began after it and lately: whoever sat in the old one does not.
-- Answers unfrozen, not_frozen or sign_in_again.
CREATE OR REPLACE FUNCTION bank.unfreeze_payments() RETURNS text
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  who uuid := bank.lock_customer();
  open bank.payment_freeze;
BEGIN
  SELECT * INTO open FROM bank.payment_freeze f WHERE f.customer_id = who AND f.lifted_at IS NULL;
  IF NOT FOUND THEN
    RETURN 'not_frozen';
  END IF;
  IF bank.session_began() IS NULL OR bank.session_began() <= open.frozen_at OR bank.session_began() <= bank.bank_clock() - interval '5 minutes' THEN
    RETURN 'sign_in_again';
  END IF;
  UPDATE bank.payment_freeze SET lifted_at = bank.bank_clock() WHERE customer_id = who AND freeze_id = open.freeze_id;
  PERFORM bank.record_about_customer(who, 'unfrozen', 'freeze');
  PERFORM bank.notify(who, 'unfrozen', '', NULL, '');
  RETURN 'unfrozen';
END
$$;

-- "This was not me", with the one-use word of a notice and without a session. It stops outgoing payments and does nothing else.
-- Answers stopped, already_stopped, used, too_old or unknown; none of them says whose notice it was.
CREATE OR REPLACE FUNCTION bank.stop_by_notice(p_word text) RETURNS text
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  told bank.notice;
BEGIN
  SELECT * INTO told FROM bank.notice n WHERE n.not_me_hash = pg_catalog.sha256(pg_catalog.convert_to(p_word, 'UTF8'));
  IF NOT FOUND THEN
    RETURN 'unknown';
  END IF;
  PERFORM bank.lock_customer_row(told.customer_id);
  RETURN bank.answer_not_me(told.customer_id, told.number);
END
$$;

-- The same from the list of notices on the panel, by the customer of the session.
CREATE OR REPLACE FUNCTION bank.stop_by_my_notice(p_number bigint) RETURNS text
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  RETURN bank.answer_not_me(bank.lock_customer(), p_number);
END
$$;

CREATE OR REPLACE FUNCTION bank.answer_not_me(who uuid, which bigint) RETURNS text
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
DECLARE
  told bank.notice;
BEGIN
  -- After the lock: two clicks are one.
  SELECT * INTO told FROM bank.notice n WHERE n.customer_id = who AND n.number = which;
  IF NOT FOUND THEN
    RETURN 'unknown';
  END IF;
  IF told.not_me_at IS NOT NULL THEN
    RETURN CASE WHEN bank.is_frozen(who) THEN 'already_stopped' ELSE 'used' END;
  END IF;
  IF told.not_me_until <= bank.bank_clock() THEN
    RETURN 'too_old';
  END IF;
  UPDATE bank.notice SET not_me_at = bank.bank_clock() WHERE customer_id = who AND number = which;
  RETURN CASE WHEN bank.freeze_outgoing(who, 'not_me') THEN 'stopped' ELSE 'already_stopped' END;
END
$$;

-- Claims what is to be delivered: of each customer and channel only the oldest, so that it goes in order. Whoever claims it has a minute;
-- then somebody else tries, so that a notice may come twice and never not at all.
DROP FUNCTION IF EXISTS bank.claim_notices(text[], integer);
CREATE FUNCTION bank.claim_notices(channels text[], most integer)
  RETURNS TABLE (customer_id uuid, number bigint, channel text, address text, language text, kind text, about text, short_code text, made_at timestamptz,
    not_me_secret text, attempts integer)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  RETURN QUERY
  WITH due AS (
    SELECT o.customer_id, o.number, o.channel FROM bank.outbox o
     WHERE o.state = 'waiting' AND o.next_try_at <= bank.bank_clock() AND o.channel = ANY (channels)
       AND NOT EXISTS (SELECT FROM bank.outbox older WHERE older.customer_id = o.customer_id AND older.channel = o.channel
             AND older.number < o.number AND older.state = 'waiting')
     ORDER BY o.next_try_at LIMIT least(most, 200) FOR UPDATE SKIP LOCKED)
  UPDATE bank.outbox o SET attempts = o.attempts + 1, next_try_at = bank.bank_clock() + interval '1 minute'
    FROM due, bank.notice n
   WHERE o.customer_id = due.customer_id AND o.number = due.number AND o.channel = due.channel
     AND n.customer_id = o.customer_id AND n.number = o.number
   RETURNING o.customer_id, o.number, o.channel, o.address,
     (SELECT coalesce(c.panel_language, c.locale) FROM bank.customer c WHERE c.customer_id = o.customer_id), n.kind, n.about, n.short_code, n.made_at, o.not_me_secret, o.attempts;
END
$$;

-- What became of a delivery: NULL for delivered, else a code. A failure is tried again after 10 s, 20 s, 40 s and so on, an hour at most;
-- after twelve, or where it is for good, it is dead, and the next one of the customer has its turn.
CREATE OR REPLACE FUNCTION bank.end_delivery(p_customer uuid, p_number bigint, p_channel text, p_failure text, p_for_good boolean) RETURNS text
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  row bank.outbox;
  becomes text;
BEGIN
  SELECT * INTO row FROM bank.outbox o
   WHERE o.customer_id = p_customer AND o.number = p_number AND o.channel = p_channel AND o.state = 'waiting' FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 'ended';
  END IF;
  becomes := CASE WHEN p_failure IS NULL THEN 'sent' WHEN p_for_good OR row.attempts >= 12 THEN 'dead' ELSE 'waiting' END;
  UPDATE bank.outbox SET state = becomes, failed_with = pg_catalog.left(p_failure, 60),
    not_me_secret = CASE WHEN becomes = 'waiting' THEN row.not_me_secret END,
    ended_at = CASE WHEN becomes <> 'waiting' THEN bank.bank_clock() END,
    next_try_at = bank.bank_clock() + least(10 * 2 ^ least(row.attempts - 1, 10), 3600) * interval '1 second'
   WHERE customer_id = p_customer AND number = p_number AND channel = p_channel;
  RETURN becomes;
END
$$;

DO $ownership$
DECLARE
  signature text;
BEGIN
  GRANT CREATE ON SCHEMA bank TO cs_executor;
  FOREACH signature IN ARRAY ARRAY['bank.shown_in(bytea, text)', 'bank.short_code_of(bytea)', 'bank.notify(uuid, text, text, uuid, text)',
    'bank.record_about_customer(uuid, text, text)', 'bank.note_login()', 'bank.is_frozen(uuid)', 'bank.may_while_frozen(text)',
    'bank.freeze_outgoing(uuid, text)', 'bank.freeze_payments()', 'bank.unfreeze_payments()', 'bank.stop_by_notice(text)',
    'bank.stop_by_my_notice(bigint)', 'bank.answer_not_me(uuid, bigint)', 'bank.claim_notices(text[], integer)',
    'bank.end_delivery(uuid, bigint, text, text, boolean)'] LOOP
    EXECUTE format('ALTER FUNCTION %s OWNER TO cs_executor', signature);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', signature);
  END LOOP;
  REVOKE CREATE ON SCHEMA bank FROM cs_executor;
END
$ownership$;
GRANT EXECUTE ON FUNCTION bank.note_login(), bank.freeze_payments(), bank.unfreeze_payments(), bank.stop_by_notice(text),
  bank.stop_by_my_notice(bigint) TO panel;
GRANT EXECUTE ON FUNCTION bank.claim_notices(text[], integer), bank.end_delivery(uuid, bigint, text, text, boolean) TO relay;
