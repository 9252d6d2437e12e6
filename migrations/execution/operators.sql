-- What people of the bank decide, part of the execution path: letting a held payment go, and letting a customer back in.
--
-- Only the role cs_operator may call these, and no login of a service is in it: a person's own login is. Applied with
-- execution.sql and again whenever it changes; owned by cs_executor like everything there.

-- Who decides. A person's login decides in its own name and in no other; whoever owns the database says in whose.
CREATE OR REPLACE FUNCTION bank.operator_named(p_operator text) RETURNS text
  LANGUAGE plpgsql STABLE SET search_path = ''
  AS $$
BEGIN
  IF p_operator IS DISTINCT FROM session_user::text
     AND NOT (SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname = session_user) THEN
    RAISE EXCEPTION 'an operator decides in no other name' USING ERRCODE = '42501';
  END IF;
  RETURN p_operator;
END
$$;

-- A decision in the customer's chain, in RFC 8785 form.
CREATE OR REPLACE FUNCTION bank.record_decision(who uuid, event_kind text, which uuid, about text, p_operator text) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
BEGIN
  PERFORM bank.append_event_for(who, event_kind, which, pg_catalog.convert_to(pg_catalog.format(
    '{"about":"%s","at":"%s","customer":"%s","event":"%s","operator":"%s"}', about,
    pg_catalog.to_char(bank.bank_clock() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'cus_' || pg_catalog.replace(who::text, '-', ''), event_kind, p_operator), 'UTF8'));
END
$$;

-- An operator lets a held payment go.
CREATE OR REPLACE FUNCTION bank.allow_hold(p_customer uuid, p_action uuid, p_operator text) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  by_whom text := bank.operator_named(p_operator);
BEGIN
  PERFORM bank.lock_customer_row(p_customer);
  UPDATE bank.hold h SET allowed_at = bank.bank_clock(), allowed_by = by_whom
    FROM bank.pending_action a
   WHERE h.customer_id = p_customer AND h.action_id = p_action AND h.allowed_at IS NULL
     AND a.customer_id = h.customer_id AND a.action_id = h.action_id AND a.state = 'held';
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM bank.record_decision(p_customer, 'hold_allowed', p_action, 'act_' || pg_catalog.replace(p_action::text, '-', ''), by_whom);
  RETURN true;
END
$$;

-- An operator made sure that it is the customer who asked for a way back in.
CREATE OR REPLACE FUNCTION bank.approve_recovery(p_customer uuid, p_recovery uuid, p_operator text) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  by_whom text := bank.operator_named(p_operator);
BEGIN
  PERFORM bank.lock_customer_row(p_customer);
  UPDATE bank.passkey_recovery SET approved_at = bank.bank_clock(), approved_by = by_whom
   WHERE customer_id = p_customer AND recovery_id = p_recovery AND ended_at IS NULL AND approved_at IS NULL;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM bank.record_decision(p_customer, 'recovery_approved', NULL, pg_catalog.replace(p_recovery::text, '-', ''), by_whom);
  PERFORM bank.notify(p_customer, 'recovery_approved', '', NULL, '');
  RETURN true;
END
$$;

-- What waits for an operator: held payments that do not go by themselves, recoveries that nobody approved, and what a panel remembers
-- of the log and this database does not have, which is no customer's.
CREATE OR REPLACE FUNCTION bank.waiting_for_operator() RETURNS TABLE (what text, customer_id uuid, id uuid, why text, about text, since timestamptz)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  RETURN QUERY
  SELECT 'hold', h.customer_id, h.action_id, h.reason, bank.shown_in(h.record, 'button'), h.held_at FROM bank.hold h
    JOIN bank.pending_action a ON a.customer_id = h.customer_id AND a.action_id = h.action_id AND a.state = 'held'
   WHERE h.allowed_at IS NULL AND h.release_after IS NULL AND h.ends_at > bank.bank_clock()
  UNION ALL
  SELECT 'recovery', r.customer_id, r.recovery_id, 'passkeys_lost', '', r.asked_at FROM bank.passkey_recovery r
   WHERE r.ended_at IS NULL AND r.approved_at IS NULL
  UNION ALL
  SELECT 'gap', NULL, g.gap_id, 'older_copy', pg_catalog.format('a panel remembers %s events, this database has %s', g.remembered_size, g.found_size),
    g.noticed_at FROM bank.log_gap g WHERE g.accepted_at IS NULL
  ORDER BY 6 LIMIT 200;
END
$$;

DO $ownership$
DECLARE
  signature text;
BEGIN
  GRANT CREATE ON SCHEMA bank TO cs_executor;
  FOREACH signature IN ARRAY ARRAY['bank.operator_named(text)', 'bank.record_decision(uuid, text, uuid, text, text)',
    'bank.allow_hold(uuid, uuid, text)', 'bank.approve_recovery(uuid, uuid, text)', 'bank.waiting_for_operator()'] LOOP
    EXECUTE format('ALTER FUNCTION %s OWNER TO cs_executor', signature);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', signature);
  END LOOP;
  REVOKE CREATE ON SCHEMA bank FROM cs_executor;
END
$ownership$;
GRANT EXECUTE ON FUNCTION bank.allow_hold(uuid, uuid, text), bank.approve_recovery(uuid, uuid, text), bank.waiting_for_operator() TO cs_operator;
