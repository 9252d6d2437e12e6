-- Changing limits, part of the execution path. Lowering is a precaution and needs no Confirm; raising is a request like any other, made
-- from what the customer typed on the panel, and takes effect a while after its Confirm.
--
-- Applied with execution.sql and again whenever it changes; owned by cs_executor like everything there.

-- What a limit is now; NULL where the customer has none in the currency.
CREATE OR REPLACE FUNCTION bank.limit_now(who uuid, limit_name text, of_currency text) RETURNS bigint
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
BEGIN
  IF limit_name = 'undo_seconds' THEN
    RETURN bank.undo_seconds_of(who);
  END IF;
  RETURN (SELECT CASE limit_name WHEN 'per_transfer' THEN l.per_transfer_minor_units WHEN 'per_day' THEN l.per_day_minor_units
      WHEN 'pending_total' THEN l.pending_total_minor_units WHEN 'first_payment' THEN l.first_payment_minor_units
      -- Without one of their own, the limit of a first payment is the customer's.
      WHEN 'step_up_over' THEN coalesce(l.step_up_over_minor_units, l.first_payment_minor_units) END
    FROM bank.customer_limit l WHERE l.customer_id = who AND l.currency = of_currency);
END
$$;

-- Writes a limit, with its event and notice. The caller holds the lock.
CREATE OR REPLACE FUNCTION bank.set_limit(who uuid, limit_name text, of_currency text, new_value bigint) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
BEGIN
  IF limit_name = 'undo_seconds' THEN
    INSERT INTO bank.customer_choice (customer_id, undo_seconds) VALUES (who, new_value::integer)
    ON CONFLICT (customer_id) DO UPDATE SET undo_seconds = excluded.undo_seconds;
  ELSE
    UPDATE bank.customer_limit SET
      per_transfer_minor_units = CASE WHEN limit_name = 'per_transfer' THEN new_value ELSE per_transfer_minor_units END,
      per_day_minor_units = CASE WHEN limit_name = 'per_day' THEN new_value ELSE per_day_minor_units END,
      pending_total_minor_units = CASE WHEN limit_name = 'pending_total' THEN new_value ELSE pending_total_minor_units END,
      first_payment_minor_units = CASE WHEN limit_name = 'first_payment' THEN new_value ELSE first_payment_minor_units END,
      step_up_over_minor_units = CASE WHEN limit_name = 'step_up_over' THEN new_value ELSE step_up_over_minor_units END
     WHERE customer_id = who AND currency = of_currency;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'no such limit' USING ERRCODE = 'CS002';
    END IF;
  END IF;
  PERFORM bank.append_event_for(who, 'limit_changed', NULL, pg_catalog.convert_to(pg_catalog.format(
    '{"at":"%s","currency":"%s","customer":"%s","event":"limit_changed","limit":"%s","value":"%s"}',
    pg_catalog.to_char(bank.bank_clock() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), of_currency,
    'cus_' || pg_catalog.replace(who::text, '-', ''), limit_name, new_value), 'UTF8'));
  PERFORM bank.notify(who, 'changed', CASE limit_name WHEN 'undo_seconds' THEN 'Your time to undo' ELSE 'Your limits in ' || of_currency END, NULL, '');
END
$$;

-- Whether a new value is the more careful one.
CREATE OR REPLACE FUNCTION bank.is_lowering(limit_name text, now_is bigint, becomes bigint) RETURNS boolean
  LANGUAGE plpgsql IMMUTABLE SET search_path = ''
  AS $$
BEGIN
  RETURN CASE WHEN limit_name = 'undo_seconds' THEN becomes >= now_is ELSE becomes <= now_is END;
END
$$;

-- What the customer typed on the panel: lowers at once, or asks for a raise that waits for its Confirm. A raise of the same limit that
-- waits, open or cooling off, is ended by either.
-- Answers lowered, asked, same, too_high or no_such_limit.
CREATE OR REPLACE FUNCTION bank.change_limit(p_limit text, p_currency text, p_value bigint, p_action uuid, p_provenance text) RETURNS text
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  who uuid := bank.lock_customer();
  setting bank.setting;
  now_is bigint := bank.limit_now(who, p_limit, p_currency);
  target text := 'limit:' || p_limit || ':' || p_currency;
  place uuid;
  each record;
BEGIN
  SELECT * INTO STRICT setting FROM bank.setting;
  IF now_is IS NULL OR p_value IS NULL OR p_value < 0 THEN
    RETURN 'no_such_limit';
  END IF;
  IF p_value > (CASE WHEN p_limit = 'undo_seconds' THEN setting.undo_seconds_max ELSE setting.limit_max_minor_units END) THEN
    RETURN 'too_high';
  END IF;
  UPDATE bank.limit_change SET ended_at = bank.bank_clock(), outcome = 'stopped'
   WHERE customer_id = who AND limit_name = p_limit AND currency = p_currency AND ended_at IS NULL;
  FOR each IN SELECT a.action_id FROM bank.pending_action a WHERE a.customer_id = who AND a.target_key = target AND a.state = 'pending' LOOP
    PERFORM bank.end_action(who, each.action_id, 'cancelled', 'cancelled');
  END LOOP;
  IF p_value = now_is THEN
    RETURN 'same';
  END IF;
  IF bank.is_lowering(p_limit, now_is, p_value) THEN
    PERFORM bank.set_limit(who, p_limit, p_currency, p_value);
    RETURN 'lowered';
  END IF;
  SELECT c.conversation_id INTO place FROM bank.conversation c WHERE c.customer_id = who ORDER BY c.created_at DESC LIMIT 1;
  IF NOT FOUND THEN
    place := pg_catalog.gen_random_uuid();
    INSERT INTO bank.conversation (customer_id, conversation_id) VALUES (who, place);
  END IF;
  INSERT INTO bank.pending_action (customer_id, action_id, conversation_id, kind, target_key, grounded_through)
  VALUES (who, p_action, place, 'limit_change', target, coalesce((SELECT max(u.sequence) FROM bank.utterance u
    WHERE u.customer_id = who AND u.conversation_id = place), 0));
  INSERT INTO bank.pending_version (customer_id, action_id, version, currency, typed, rules_version, provenance_version)
  VALUES (who, p_action, 1, nullif(p_currency, ''), pg_catalog.jsonb_build_object('limit', p_limit, 'limit_value', p_value::text,
    'limit_before', now_is::text), setting.rules_version, p_provenance);
  PERFORM bank.append_event_for(who, 'request_created', p_action, bank.plain_event('request_created', p_action, p_action));
  RETURN 'asked';
END
$$;

-- The Confirm of a raise: from now on it cools off. Answers a code, or NULL when it did.
CREATE OR REPLACE FUNCTION bank.begin_cooling(who uuid, act bank.pending_action, v bank.pending_version) RETURNS text
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
DECLARE
  limit_name text := v.typed ->> 'limit';
  value bigint := (v.typed ->> 'limit_value')::bigint;
  now_is bigint := bank.limit_now(who, limit_name, coalesce(v.currency, ''));
BEGIN
  -- Another change came in between: what was confirmed is not what this would do.
  IF now_is IS DISTINCT FROM (v.typed ->> 'limit_before')::bigint OR bank.is_lowering(limit_name, now_is, value) THEN
    RETURN 'not_possible_now';
  END IF;
  INSERT INTO bank.limit_change (customer_id, action_id, limit_name, currency, value, effective_at)
  VALUES (who, act.action_id, limit_name, coalesce(v.currency, ''), value,
    bank.bank_clock() + (SELECT s.limit_cooling_seconds FROM bank.setting s) * interval '1 second');
  RETURN NULL;
END
$$;

-- Takes back a raise that cools off. The same again is the same.
CREATE OR REPLACE FUNCTION bank.stop_limit_change(p_action uuid) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  who uuid := bank.lock_customer();
BEGIN
  UPDATE bank.limit_change SET ended_at = bank.bank_clock(), outcome = 'stopped'
   WHERE customer_id = who AND action_id = p_action AND ended_at IS NULL;
  RETURN FOUND;
END
$$;

-- Applies what has cooled off, each under its customer's lock. While payments are stopped nothing is raised. Returns how many.
CREATE OR REPLACE FUNCTION bank.apply_limit_changes(most integer) RETURNS integer
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  due record;
  change bank.limit_change;
  applied integer := 0;
BEGIN
  FOR due IN SELECT l.customer_id, l.action_id FROM bank.limit_change l
    WHERE l.ended_at IS NULL AND l.effective_at <= bank.bank_clock() AND NOT bank.is_frozen(l.customer_id)
    ORDER BY l.customer_id, l.action_id LIMIT least(most, 1000) LOOP
    PERFORM bank.lock_customer_row(due.customer_id);
    SELECT * INTO change FROM bank.limit_change l WHERE l.customer_id = due.customer_id AND l.action_id = due.action_id AND l.ended_at IS NULL;
    IF FOUND AND NOT bank.is_frozen(due.customer_id) THEN
      UPDATE bank.limit_change SET ended_at = bank.bank_clock(), outcome = 'applied' WHERE customer_id = due.customer_id AND action_id = due.action_id;
      PERFORM bank.set_limit(due.customer_id, change.limit_name, change.currency, change.value);
      applied := applied + 1;
    END IF;
  END LOOP;
  RETURN applied;
END
$$;

DO $ownership$
DECLARE
  signature text;
BEGIN
  GRANT CREATE ON SCHEMA bank TO cs_executor;
  FOREACH signature IN ARRAY ARRAY['bank.limit_now(uuid, text, text)', 'bank.set_limit(uuid, text, text, bigint)',
    'bank.is_lowering(text, bigint, bigint)', 'bank.change_limit(text, text, bigint, uuid, text)',
    'bank.begin_cooling(uuid, bank.pending_action, bank.pending_version)', 'bank.stop_limit_change(uuid)', 'bank.apply_limit_changes(integer)'] LOOP
    EXECUTE format('ALTER FUNCTION %s OWNER TO cs_executor', signature);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', signature);
  END LOOP;
  REVOKE CREATE ON SCHEMA bank FROM cs_executor;
END
$ownership$;
GRANT EXECUTE ON FUNCTION bank.change_limit(text, text, bigint, uuid, text), bank.stop_limit_change(uuid) TO panel;
GRANT EXECUTE ON FUNCTION bank.apply_limit_changes(integer) TO sweeper;
