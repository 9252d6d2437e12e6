-- Step-up in the database: when one is due, which answer counts, and who may add or take away a passkey.
--
-- Applied before the execution path, which calls it, and again whenever it changes. Owned by cs_executor like the rest of it.

-- Why a request wants a passkey: codes, in the order in which the card gives them. Read under the customer's lock where it decides.
CREATE OR REPLACE FUNCTION bank.step_up_due(who uuid, act bank.pending_action, v bank.pending_version) RETURNS text[]
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
DECLARE
  reasons text[] := '{}';
  paid_long_ago timestamptz;
  leaving bigint;
  at_most bigint;
BEGIN
  IF act.kind IN ('transfer', 'refund', 'standing_order_create', 'standing_order_change') THEN
    paid_long_ago := bank.bank_clock() - (SELECT s.new_payee_seconds FROM bank.setting s) * interval '1 second';
    PERFORM 1 FROM bank.pending_line l
      WHERE l.customer_id = who AND l.action_id = act.action_id AND l.version = v.version AND l.payee_id IS NOT NULL
        AND NOT EXISTS (SELECT FROM bank.payee_paid p WHERE p.customer_id = who AND p.payee_id = l.payee_id AND p.first_paid_at <= paid_long_ago);
    IF FOUND THEN
      reasons := reasons || 'passkey_new_payee'::text;
    END IF;
    SELECT sum(l.amount_minor_units) INTO leaving FROM bank.pending_line l
      WHERE l.customer_id = who AND l.action_id = act.action_id AND l.version = v.version AND l.own_account_id IS NULL;
    IF leaving IS NOT NULL THEN
      SELECT coalesce(c.step_up_over_minor_units, c.first_payment_minor_units) INTO at_most FROM bank.customer_limit c
       WHERE c.customer_id = who AND c.currency = v.currency;
      IF at_most IS NULL OR leaving > at_most THEN
        reasons := reasons || 'passkey_amount'::text;
      END IF;
    END IF;
  END IF;
  IF act.kind = 'limit_change' THEN
    reasons := reasons || 'passkey_limit'::text;
  END IF;
  IF act.kind = 'card_unfreeze' THEN
    reasons := reasons || 'passkey_unfreeze'::text;
  END IF;
  PERFORM 1 FROM bank.pending_action older WHERE older.customer_id = who AND older.superseded_by = act.action_id;
  IF FOUND THEN
    reasons := reasons || 'passkey_replaced'::text;
  END IF;
  RETURN reasons;
END
$$;

-- The same for the panel, which draws the card: its own customer's request in its current version.
CREATE OR REPLACE FUNCTION bank.step_up_reasons(which uuid) RETURNS text[]
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  who uuid := bank.current_customer();
  act bank.pending_action;
  v bank.pending_version;
BEGIN
  SELECT * INTO act FROM bank.pending_action a WHERE a.customer_id = who AND a.action_id = which;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such action' USING ERRCODE = 'CS002';
  END IF;
  SELECT * INTO STRICT v FROM bank.pending_version x WHERE x.customer_id = who AND x.action_id = which AND x.version = act.current_version;
  RETURN bank.step_up_due(who, act, v);
END
$$;

-- What a passkey signs: this record, this showing of it, this note (countersign_domain::record::challenge).
CREATE OR REPLACE FUNCTION bank.confirm_challenge(p_confirm_hash bytea, p_nonce text, p_note text) RETURNS bytea
  LANGUAGE plpgsql IMMUTABLE SET search_path = ''
  AS $$
BEGIN
  RETURN pg_catalog.sha256(p_confirm_hash || pg_catalog.convert_to(p_nonce, 'UTF8')
    || pg_catalog.sha256(pg_catalog.convert_to(p_note, 'UTF8')));
END
$$;

-- Issues the challenge of a showing, or renews its minute when the customer asks once more. NULL when the card was not shown so.
CREATE OR REPLACE FUNCTION bank.issue_step_up(p_action uuid, p_version integer, p_confirm_hash bytea, p_nonce text, p_note text) RETURNS bytea
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  who uuid := bank.current_customer();
  made bytea := bank.confirm_challenge(p_confirm_hash, p_nonce, p_note);
BEGIN
  PERFORM 1 FROM bank.card_shown c
   WHERE c.customer_id = who AND c.nonce_hash = pg_catalog.sha256(pg_catalog.convert_to(p_nonce, 'UTF8'))
     AND c.action_id = p_action AND c.version = p_version AND c.confirm_hash = p_confirm_hash
     AND c.panel_grant_id = (SELECT bank.current_grant()) AND c.consumed_at IS NULL;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  DELETE FROM bank.step_up s WHERE s.customer_id = who AND s.answered_at IS NULL AND s.issued_at < bank.bank_clock() - interval '1 hour';
  INSERT INTO bank.step_up (customer_id, challenge, purpose, action_id, panel_grant_id)
  VALUES (who, made, 'confirm', p_action, (SELECT bank.current_grant()))
  ON CONFLICT (customer_id, challenge) DO UPDATE SET issued_at = bank.bank_clock() WHERE bank.step_up.used_at IS NULL;
  RETURN made;
END
$$;

-- Issues a challenge for the customer's passkeys themselves: 'enrol' for a new one, 'manage' for leave to change them.
CREATE OR REPLACE FUNCTION bank.issue_passkey_challenge(p_purpose text) RETURNS bytea
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  who uuid := bank.current_customer();
  made bytea := pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.gen_random_uuid()::text || pg_catalog.gen_random_uuid()::text, 'UTF8'));
BEGIN
  IF who IS NULL THEN
    RAISE EXCEPTION 'no live session' USING ERRCODE = 'CS001';
  END IF;
  IF p_purpose NOT IN ('enrol', 'manage') THEN
    RAISE EXCEPTION 'no challenge for that' USING ERRCODE = 'CS003';
  END IF;
  DELETE FROM bank.step_up s WHERE s.customer_id = who AND s.answered_at IS NULL AND s.issued_at < bank.bank_clock() - interval '1 hour';
  INSERT INTO bank.step_up (customer_id, challenge, purpose, panel_grant_id)
  VALUES (who, made, p_purpose, (SELECT bank.current_grant()));
  RETURN made;
END
$$;

-- What client data says: its challenge in the form in which a browser writes it.
CREATE OR REPLACE FUNCTION bank.names_challenge(p_client_data bytea, p_challenge bytea, p_types text[]) RETURNS boolean
  LANGUAGE plpgsql IMMUTABLE SET search_path = ''
  AS $$
DECLARE
  said jsonb;
BEGIN
  said := pg_catalog.convert_from(p_client_data, 'UTF8')::jsonb;
  RETURN coalesce(said ->> 'challenge' = pg_catalog.rtrim(pg_catalog.translate(
             pg_catalog.encode(p_challenge, 'base64'), E'+/\n', '-_'), '=') AND said ->> 'type' = ANY (p_types), false);
EXCEPTION WHEN OTHERS THEN
  -- What cannot be read names nothing.
  RETURN false;
END
$$;

-- Takes the answer to a challenge. The caller has verified the signature; everything else that can be read in the bytes is read
-- here. Answers: answered, or why not.
CREATE OR REPLACE FUNCTION bank.answer_step_up(p_challenge bytea, p_credential_hash bytea, p_client_data bytea, p_authenticator_data bytea,
  p_signature bytea) RETURNS text
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  who uuid := bank.lock_customer();
  asked bank.step_up;
  key bank.passkey;
  flags integer;
  counter bigint;
BEGIN
  SELECT * INTO asked FROM bank.step_up s WHERE s.customer_id = who AND s.challenge = p_challenge
    AND s.purpose IN ('confirm', 'manage') AND s.panel_grant_id = (SELECT bank.current_grant()) AND s.used_at IS NULL;
  IF NOT FOUND THEN
    RETURN 'step_up_unknown';
  END IF;
  IF asked.issued_at <= bank.bank_clock() - (SELECT s.step_up_seconds FROM bank.setting s) * interval '1 second' THEN
    RETURN 'step_up_late';
  END IF;
  PERFORM 1 FROM bank.passkey_recovery r WHERE r.customer_id = who AND r.ended_at IS NULL;
  IF FOUND THEN
    RETURN 'step_up_frozen';
  END IF;
  SELECT * INTO key FROM bank.passkey p WHERE p.customer_id = who AND p.credential_hash = p_credential_hash AND p.removed_at IS NULL;
  IF NOT FOUND THEN
    RETURN 'step_up_unknown';
  END IF;
  IF NOT bank.names_challenge(p_client_data, p_challenge,
       CASE asked.purpose WHEN 'confirm' THEN ARRAY['webauthn.get', 'payment.get'] ELSE ARRAY['webauthn.get'] END)
     OR pg_catalog.length(p_authenticator_data) < 37 OR pg_catalog.length(p_signature) = 0 THEN
    RETURN 'step_up_refused';
  END IF;
  -- Authenticator data: hash of the relying party, flags, counter (Web Authentication Level 3, section 6.1).
  flags := pg_catalog.get_byte(p_authenticator_data, 32);
  IF flags & 5 <> 5 THEN
    RETURN 'step_up_refused';
  END IF;
  counter := pg_catalog.get_byte(p_authenticator_data, 33)::bigint * 16777216 + pg_catalog.get_byte(p_authenticator_data, 34) * 65536
    + pg_catalog.get_byte(p_authenticator_data, 35) * 256 + pg_catalog.get_byte(p_authenticator_data, 36);
  IF (counter > 0 OR key.sign_count > 0) AND counter <= key.sign_count THEN
    RETURN 'step_up_counter';
  END IF;
  UPDATE bank.passkey SET sign_count = counter, last_used_at = bank.bank_clock() WHERE customer_id = who AND passkey_id = key.passkey_id;
  UPDATE bank.step_up SET passkey_id = key.passkey_id, client_data = p_client_data, authenticator_data = p_authenticator_data,
    signature = p_signature, answered_at = bank.bank_clock()
   WHERE customer_id = who AND challenge = p_challenge;
  RETURN 'answered';
END
$$;

-- Uses a fresh answer of this session. Gives the passkey that gave it, or nothing. The caller holds the lock.
CREATE OR REPLACE FUNCTION bank.use_answer(who uuid, p_purpose text, p_challenge bytea) RETURNS bank.passkey
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
DECLARE
  key bank.passkey;
  used uuid;
BEGIN
  UPDATE bank.step_up s SET used_at = bank.bank_clock()
   WHERE s.customer_id = who AND s.challenge = p_challenge AND s.purpose = p_purpose AND s.used_at IS NULL
     AND s.panel_grant_id = (SELECT bank.current_grant())
     AND s.answered_at > bank.bank_clock() - (SELECT t.step_up_seconds FROM bank.setting t) * interval '1 second'
   RETURNING s.passkey_id INTO used;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  SELECT * INTO key FROM bank.passkey p WHERE p.customer_id = who AND p.passkey_id = used AND p.removed_at IS NULL;
  RETURN key;
END
$$;

-- The step-up of a Confirm. NULL when none is due or the one that is due was made; else the code that stands against it.
-- The record is the one that H names, so what it says of the name check is what the card showed.
CREATE OR REPLACE FUNCTION bank.use_step_up(who uuid, act bank.pending_action, v bank.pending_version, p_confirm_hash bytea, p_nonce text,
  p_note text, p_record bytea) RETURNS text
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
DECLARE
  key bank.passkey;
  due boolean;
  leaving bigint;
BEGIN
  IF p_confirm_hash <> pg_catalog.sha256(pg_catalog.convert_to('countersign/confirm/v1', 'UTF8') || p_record) THEN
    RETURN 'stale_card';
  END IF;
  due := bank.step_up_due(who, act, v) <> '{}' OR EXISTS (
    SELECT FROM pg_catalog.jsonb_array_elements(pg_catalog.convert_from(p_record, 'UTF8')::jsonb -> 'lines') line
     WHERE line ->> 'name_check' IN ('close', 'no_match'));
  IF NOT due THEN
    RETURN NULL;
  END IF;
  PERFORM 1 FROM bank.passkey_recovery r WHERE r.customer_id = who AND r.ended_at IS NULL;
  IF FOUND THEN
    RETURN 'step_up_frozen';
  END IF;
  key := bank.use_answer(who, 'confirm', bank.confirm_challenge(p_confirm_hash, p_nonce, p_note));
  IF key.passkey_id IS NULL THEN
    RETURN 'step_up_due';
  END IF;
  IF NOT key.vouched AND key.created_at > bank.bank_clock() - (SELECT s.passkey_new_seconds FROM bank.setting s) * interval '1 second' THEN
    SELECT sum(l.amount_minor_units) INTO leaving FROM bank.pending_line l
      WHERE l.customer_id = who AND l.action_id = act.action_id AND l.version = v.version AND l.own_account_id IS NULL;
    leaving := leaving + (SELECT coalesce(sum(t.amount_minor_units), 0) FROM bank.transfer t WHERE t.customer_id = who
      AND t.kind IN ('payment_out', 'refund_out') AND t.currency = v.currency AND t.state <> 'voided' AND t.created_at > key.created_at);
    IF leaving > coalesce((SELECT c.first_payment_minor_units FROM bank.customer_limit c WHERE c.customer_id = who AND c.currency = v.currency), 0) THEN
      RETURN 'limit_new_passkey';
    END IF;
  END IF;
  RETURN NULL;
END
$$;

-- An event about a passkey or a recovery, in RFC 8785 form. `about` is hexadecimal.
CREATE OR REPLACE FUNCTION bank.passkey_event(who uuid, event_kind text, about text) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
BEGIN
  PERFORM bank.append_event_for(who, event_kind, NULL, pg_catalog.convert_to(pg_catalog.format('{"about":"%s","at":"%s","event":"%s"}', about,
    pg_catalog.to_char(bank.bank_clock() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), event_kind), 'UTF8'));
  -- Whoever took over a session cannot change the keys in silence.
  PERFORM bank.notify(who, event_kind, '', NULL, '');
END
$$;

-- Takes a new passkey. The first one wants a login of a moment ago, each further one the agreement of an older one, and after an
-- approved recovery it takes the place of all of them. Answers: enrolled, or why not.
CREATE OR REPLACE FUNCTION bank.enrol_passkey(p_challenge bytea, p_passkey uuid, p_credential_id bytea, p_credential jsonb, p_sign_count bigint,
  p_synced boolean, p_name text, p_client_data bytea, p_vouching bytea) RETURNS text
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  who uuid := bank.lock_customer();
  recovery bank.passkey_recovery;
  others integer;
  voucher bank.passkey;
BEGIN
  IF NOT bank.names_challenge(p_client_data, p_challenge, ARRAY['webauthn.create']) THEN
    RETURN 'step_up_refused';
  END IF;
  UPDATE bank.step_up s SET answered_at = bank.bank_clock(), used_at = bank.bank_clock()
   WHERE s.customer_id = who AND s.challenge = p_challenge AND s.purpose = 'enrol' AND s.used_at IS NULL
     AND s.panel_grant_id = (SELECT bank.current_grant())
     AND s.issued_at > bank.bank_clock() - (SELECT t.passkey_login_seconds FROM bank.setting t) * interval '1 second';
  IF NOT FOUND THEN
    RETURN 'step_up_late';
  END IF;
  SELECT count(*) INTO others FROM bank.passkey p WHERE p.customer_id = who AND p.removed_at IS NULL;
  IF others >= 10 THEN
    RETURN 'passkey_too_many';
  END IF;
  SELECT * INTO recovery FROM bank.passkey_recovery r WHERE r.customer_id = who AND r.ended_at IS NULL;
  IF FOUND THEN
    IF recovery.approved_at IS NULL
       OR recovery.asked_at > bank.bank_clock() - (SELECT s.passkey_recovery_seconds FROM bank.setting s) * interval '1 second' THEN
      RETURN 'step_up_frozen';
    END IF;
    UPDATE bank.passkey SET removed_at = bank.bank_clock() WHERE customer_id = who AND removed_at IS NULL;
    UPDATE bank.passkey_recovery SET ended_at = bank.bank_clock(), outcome = 'completed'
     WHERE customer_id = who AND recovery_id = recovery.recovery_id;
    PERFORM bank.passkey_event(who, 'recovery_ended', pg_catalog.replace(recovery.recovery_id::text, '-', ''));
  ELSIF others > 0 THEN
    voucher := bank.use_answer(who, 'manage', p_vouching);
    IF voucher.passkey_id IS NULL THEN
      RETURN 'step_up_due';
    END IF;
  ELSE
    PERFORM 1 FROM bank.session_grant g WHERE g.grant_id = (SELECT bank.current_grant())
      AND g.created_at > bank.bank_clock() - (SELECT s.passkey_login_seconds FROM bank.setting s) * interval '1 second';
    IF NOT FOUND THEN
      RETURN 'login_too_old';
    END IF;
  END IF;
  INSERT INTO bank.passkey (customer_id, passkey_id, credential_id, credential_hash, credential, sign_count, name, synced, vouched)
  VALUES (who, p_passkey, p_credential_id, pg_catalog.sha256(p_credential_id), p_credential, p_sign_count, p_name, p_synced,
    voucher.passkey_id IS NOT NULL);
  PERFORM bank.passkey_event(who, 'passkey_enrolled', pg_catalog.encode(pg_catalog.sha256(p_credential_id), 'hex'));
  RETURN 'enrolled';
END
$$;

-- Removes a passkey, with the agreement of one that is still there. Answers: removed, or why not.
CREATE OR REPLACE FUNCTION bank.remove_passkey(which uuid, p_vouching bytea) RETURNS text
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  who uuid := bank.lock_customer();
  voucher bank.passkey;
  gone bytea;
BEGIN
  voucher := bank.use_answer(who, 'manage', p_vouching);
  IF voucher.passkey_id IS NULL THEN
    RETURN 'step_up_due';
  END IF;
  UPDATE bank.passkey SET removed_at = bank.bank_clock() WHERE customer_id = who AND passkey_id = which AND removed_at IS NULL
    RETURNING credential_hash INTO gone;
  IF NOT FOUND THEN
    RETURN 'not_found';
  END IF;
  PERFORM bank.passkey_event(who, 'passkey_removed', pg_catalog.encode(gone, 'hex'));
  RETURN 'removed';
END
$$;

CREATE OR REPLACE FUNCTION bank.rename_passkey(which uuid, p_name text) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  UPDATE bank.passkey SET name = p_name WHERE customer_id = (SELECT bank.current_customer()) AND passkey_id = which AND removed_at IS NULL;
  RETURN FOUND;
END
$$;

-- Asks for a recovery: from now on nothing that wants a passkey is done, until it ends. False when one is open or there is nothing lost.
CREATE OR REPLACE FUNCTION bank.ask_recovery(p_recovery uuid) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  who uuid := bank.lock_customer();
BEGIN
  PERFORM 1 FROM bank.passkey p WHERE p.customer_id = who AND p.removed_at IS NULL;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO bank.passkey_recovery (customer_id, recovery_id) VALUES (who, p_recovery) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM bank.passkey_event(who, 'recovery_asked', pg_catalog.replace(p_recovery::text, '-', ''));
  RETURN true;
END
$$;

-- Ends a recovery without a change: whoever still has a passkey stops somebody else's attempt.
CREATE OR REPLACE FUNCTION bank.cancel_recovery() RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  who uuid := bank.lock_customer();
  ended uuid;
BEGIN
  UPDATE bank.passkey_recovery SET ended_at = bank.bank_clock(), outcome = 'cancelled' WHERE customer_id = who AND ended_at IS NULL
    RETURNING recovery_id INTO ended;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM bank.passkey_event(who, 'recovery_ended', pg_catalog.replace(ended::text, '-', ''));
  RETURN true;
END
$$;

DO $ownership$
DECLARE
  signature text;
  for_panel text[] := ARRAY['bank.step_up_reasons(uuid)', 'bank.issue_step_up(uuid, integer, bytea, text, text)',
    'bank.issue_passkey_challenge(text)', 'bank.answer_step_up(bytea, bytea, bytea, bytea, bytea)',
    'bank.enrol_passkey(bytea, uuid, bytea, jsonb, bigint, boolean, text, bytea, bytea)', 'bank.remove_passkey(uuid, bytea)',
    'bank.rename_passkey(uuid, text)', 'bank.ask_recovery(uuid)', 'bank.cancel_recovery()'];
BEGIN
  GRANT CREATE ON SCHEMA bank TO cs_executor;
  FOREACH signature IN ARRAY for_panel || ARRAY['bank.step_up_due(uuid, bank.pending_action, bank.pending_version)',
    'bank.confirm_challenge(bytea, text, text)', 'bank.names_challenge(bytea, bytea, text[])', 'bank.use_answer(uuid, text, bytea)',
    'bank.use_step_up(uuid, bank.pending_action, bank.pending_version, bytea, text, text, bytea)', 'bank.passkey_event(uuid, text, text)'] LOOP
    EXECUTE format('ALTER FUNCTION %s OWNER TO cs_executor', signature);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', signature);
  END LOOP;
  FOREACH signature IN ARRAY for_panel LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO panel', signature);
  END LOOP;
  REVOKE CREATE ON SCHEMA bank FROM cs_executor;
END
$ownership$;
