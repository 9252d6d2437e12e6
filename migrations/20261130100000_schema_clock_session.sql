-- The schema, the bank's one clock, and who is asking.
--
-- A session variable that named the customer would be no boundary: the role sets it and reads anybody. So the
-- variable carries a secret, the table knows its hash, and every policy asks one function whose row it is.

CREATE SCHEMA bank AUTHORIZATION cs_owner;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA bank TO bank_mcp, intake, panel, poster, sweeper, notary,
  cs_lookup, cs_executor, cs_recorder, cs_ledger_check, cs_locker;

-- The form without a schema is the one that works: it takes away the built-in grant to PUBLIC.
ALTER DEFAULT PRIVILEGES FOR ROLE cs_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE cs_lookup REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE cs_executor REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE cs_recorder REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE cs_ledger_check REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE cs_locker REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

SET LOCAL ROLE cs_owner;

-- The one clock of the money path. Read it after the lock, never now(). A test template may replace it.
CREATE FUNCTION bank.bank_clock() RETURNS timestamptz
  LANGUAGE sql VOLATILE SET search_path = ''
  AS $$ SELECT pg_catalog.clock_timestamp() $$;

-- The bank's own settings: one row.
CREATE TABLE bank.setting (
  only_row boolean PRIMARY KEY DEFAULT true CONSTRAINT setting_has_one_row CHECK (only_row),
  time_zone text NOT NULL DEFAULT 'Europe/Berlin',
  pending_ttl_seconds integer NOT NULL DEFAULT 600 CONSTRAINT pending_ttl_is_sensible CHECK (pending_ttl_seconds BETWEEN 30 AND 86400),
  grounding_stale_seconds integer NOT NULL DEFAULT 1800 CONSTRAINT stale_seconds_is_sensible CHECK (grounding_stale_seconds BETWEEN 60 AND 604800),
  grounding_stale_messages integer NOT NULL DEFAULT 20 CONSTRAINT stale_messages_is_sensible CHECK (grounding_stale_messages BETWEEN 1 AND 1000),
  rules_version text NOT NULL DEFAULT 'rules/1'
);
INSERT INTO bank.setting DEFAULT VALUES;

-- The day of the bank's time zone: limits count by it.
CREATE FUNCTION bank.bank_day() RETURNS date
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  RETURN (bank.bank_clock() AT TIME ZONE (SELECT s.time_zone FROM bank.setting s))::date;
END
$$;

CREATE TABLE bank.customer (
  customer_id uuid PRIMARY KEY,
  display_name text NOT NULL CONSTRAINT display_name_length CHECK (length(display_name) BETWEEN 1 AND 200),
  locale text NOT NULL DEFAULT 'en',
  -- A code that appears nowhere but in this customer's own data: seeing it elsewhere is an alarm.
  canary_code text NOT NULL CONSTRAINT canary_code_form CHECK (canary_code ~ '^[0-9BCDFGHJKLMNPQRSTVWXYZ]{16}$'),
  created_at timestamptz NOT NULL DEFAULT bank.bank_clock()
);

-- One row per customer, its own table, so that taking the lock needs no right on the customer.
CREATE TABLE bank.customer_lock (
  customer_id uuid PRIMARY KEY REFERENCES bank.customer,
  version bigint NOT NULL DEFAULT 0
);

-- What a secret is good for: one customer, one audience (the login role), perhaps one conversation, for a while.
-- A chat grant hangs on the panel session that made it, a turn's grant on the chat's: ending one ends those below.
CREATE TABLE bank.session_grant (
  grant_id uuid PRIMARY KEY,
  secret_hash bytea NOT NULL CONSTRAINT session_grant_secret_is_unique UNIQUE
    CONSTRAINT secret_hash_length CHECK (length(secret_hash) = 32),
  customer_id uuid NOT NULL REFERENCES bank.customer,
  conversation_id uuid,
  audience text NOT NULL CONSTRAINT session_grant_audience CHECK (audience IN ('bank_mcp', 'intake', 'panel')),
  parent_grant_id uuid REFERENCES bank.session_grant,
  created_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  CONSTRAINT a_turn_is_short CHECK (audience <> 'bank_mcp' OR (conversation_id IS NOT NULL AND expires_at <= created_at + interval '125 seconds'))
);
CREATE INDEX session_grant_by_parent ON bank.session_grant (parent_grant_id);

-- The demo's and the login's one-use token, known by its hash.
CREATE TABLE bank.login_token (
  token_hash bytea PRIMARY KEY CONSTRAINT token_hash_length CHECK (length(token_hash) = 32),
  customer_id uuid NOT NULL REFERENCES bank.customer,
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);

-- One-use code with which the framed chat becomes the same customer as the panel around it.
CREATE TABLE bank.chat_code (
  customer_id uuid NOT NULL REFERENCES bank.customer,
  code_hash bytea NOT NULL CONSTRAINT code_hash_length CHECK (length(code_hash) = 32),
  panel_grant_id uuid NOT NULL REFERENCES bank.session_grant,
  created_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  expires_at timestamptz NOT NULL DEFAULT bank.bank_clock() + interval '60 seconds',
  redeemed_at timestamptz,
  PRIMARY KEY (customer_id, code_hash)
);
CREATE UNIQUE INDEX chat_code_by_hash ON bank.chat_code (code_hash);

ALTER TABLE bank.setting ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.setting FORCE ROW LEVEL SECURITY;
ALTER TABLE bank.customer ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.customer FORCE ROW LEVEL SECURITY;
ALTER TABLE bank.customer_lock ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.customer_lock FORCE ROW LEVEL SECURITY;
ALTER TABLE bank.session_grant ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.session_grant FORCE ROW LEVEL SECURITY;
ALTER TABLE bank.login_token ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.login_token FORCE ROW LEVEL SECURITY;
ALTER TABLE bank.chat_code ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.chat_code FORCE ROW LEVEL SECURITY;

GRANT SELECT ON bank.session_grant TO cs_lookup;
CREATE POLICY lookup_reads_grants ON bank.session_grant FOR SELECT TO cs_lookup USING (true);

-- Settings hold nothing of anybody: every login role reads them.
GRANT SELECT ON bank.setting TO bank_mcp, intake, panel, poster, sweeper, notary, cs_owner, cs_executor;
CREATE POLICY everyone_reads_settings ON bank.setting FOR SELECT USING (true);
GRANT EXECUTE ON FUNCTION bank.bank_clock(), bank.bank_day() TO bank_mcp, intake, panel, poster, sweeper, notary,
  cs_lookup, cs_executor, cs_recorder, cs_ledger_check, cs_locker;

-- Whose rows the secret in `countersign.session` opens; NULL for a wrong, ended or foreign secret. STABLE PL/pgSQL,
-- so that a policy `= (SELECT bank.current_customer())` is one index lookup per table and query.
CREATE FUNCTION bank.current_customer() RETURNS uuid
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  found uuid;
BEGIN
  SELECT g.customer_id INTO found
    FROM bank.session_grant g
    LEFT JOIN bank.session_grant p ON p.grant_id = g.parent_grant_id
    LEFT JOIN bank.session_grant pp ON pp.grant_id = p.parent_grant_id
   WHERE g.secret_hash = pg_catalog.sha256(pg_catalog.convert_to(nullif(pg_catalog.current_setting('countersign.session', true), ''), 'UTF8'))
     AND g.audience = session_user
     AND g.revoked_at IS NULL AND g.expires_at > bank.bank_clock()
     AND (g.parent_grant_id IS NULL OR (p.revoked_at IS NULL AND p.expires_at > bank.bank_clock()))
     AND (p.parent_grant_id IS NULL OR (pp.revoked_at IS NULL AND pp.expires_at > bank.bank_clock()));
  RETURN found;
END
$$;

-- The conversation the secret is good for; NULL where it names none.
CREATE FUNCTION bank.current_conversation() RETURNS uuid
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  found uuid;
BEGIN
  SELECT g.conversation_id INTO found
    FROM bank.session_grant g
   WHERE g.secret_hash = pg_catalog.sha256(pg_catalog.convert_to(nullif(pg_catalog.current_setting('countersign.session', true), ''), 'UTF8'))
     AND g.audience = session_user
     AND g.revoked_at IS NULL AND g.expires_at > bank.bank_clock();
  RETURN found;
END
$$;

-- The grant behind the secret, for the rows that hang on it.
CREATE FUNCTION bank.current_grant() RETURNS uuid
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  found uuid;
BEGIN
  SELECT g.grant_id INTO found
    FROM bank.session_grant g
   WHERE g.secret_hash = pg_catalog.sha256(pg_catalog.convert_to(nullif(pg_catalog.current_setting('countersign.session', true), ''), 'UTF8'))
     AND g.audience = session_user
     AND g.revoked_at IS NULL AND g.expires_at > bank.bank_clock();
  RETURN found;
END
$$;
GRANT EXECUTE ON FUNCTION bank.current_customer(), bank.current_conversation(), bank.current_grant()
  TO bank_mcp, intake, panel, cs_executor, cs_recorder, cs_locker, cs_owner;

-- The lock: the first statement, once the secret is set, of every transaction that creates or changes a request.
-- A row, not an advisory lock, so that it survives poolers and scaled-out engines; written, so that it also holds where
-- an engine only detects write conflicts. Raises when it touched no row: an ended turn does not lock "successfully".
GRANT SELECT, UPDATE ON bank.customer_lock TO cs_locker;
CREATE POLICY locker_takes_the_lock ON bank.customer_lock FOR ALL TO cs_locker USING (true) WITH CHECK (true);
CREATE FUNCTION bank.lock_customer() RETURNS uuid
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  locked uuid;
BEGIN
  UPDATE bank.customer_lock SET version = version + 1
   WHERE customer_id = (SELECT bank.current_customer())
   RETURNING customer_id INTO locked;
  IF locked IS NULL THEN
    RAISE EXCEPTION 'no live session' USING ERRCODE = 'CS001';
  END IF;
  -- The time between the look-up and the lock may have ended the session.
  IF bank.current_customer() IS DISTINCT FROM locked THEN
    RAISE EXCEPTION 'no live session' USING ERRCODE = 'CS001';
  END IF;
  RETURN locked;
END
$$;
GRANT EXECUTE ON FUNCTION bank.lock_customer() TO bank_mcp, panel, cs_executor;

-- The same row for the bank's own loops, which act without a customer's session.
CREATE FUNCTION bank.lock_customer_row(which uuid) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  UPDATE bank.customer_lock SET version = version + 1 WHERE customer_id = which;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such customer' USING ERRCODE = 'CS002';
  END IF;
END
$$;
GRANT EXECUTE ON FUNCTION bank.lock_customer_row(uuid) TO cs_executor;

-- Sessions. The panel says who logged in; intake may hand on its own customer and nobody else.
GRANT INSERT (grant_id, secret_hash, customer_id, audience, expires_at) ON bank.session_grant TO panel;
CREATE POLICY panel_opens_panel_sessions ON bank.session_grant FOR INSERT TO panel
  WITH CHECK (audience = 'panel' AND parent_grant_id IS NULL AND conversation_id IS NULL AND revoked_at IS NULL);
GRANT INSERT (grant_id, secret_hash, customer_id, conversation_id, audience, parent_grant_id, expires_at) ON bank.session_grant TO intake;
CREATE POLICY intake_opens_turns ON bank.session_grant FOR INSERT TO intake
  WITH CHECK (audience = 'bank_mcp' AND customer_id = (SELECT bank.current_customer())
    AND parent_grant_id = (SELECT bank.current_grant()) AND conversation_id IS NOT NULL AND revoked_at IS NULL);

-- Ends a turn of the caller's own customer. Returns whether there was a live one: revoking nothing is not success.
CREATE FUNCTION bank.end_turn(turn_secret_hash bytea) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  UPDATE bank.session_grant SET revoked_at = bank.bank_clock()
   WHERE secret_hash = turn_secret_hash AND audience = 'bank_mcp' AND revoked_at IS NULL
     AND customer_id = (SELECT bank.current_customer());
  RETURN FOUND;
END
$$;

-- Ends the caller's own panel session; what hangs on it ends by the look-up.
CREATE FUNCTION bank.end_panel_session() RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  UPDATE bank.session_grant SET revoked_at = bank.bank_clock()
   WHERE grant_id = (SELECT bank.current_grant()) AND audience = 'panel' AND revoked_at IS NULL;
  RETURN FOUND;
END
$$;

-- Uses a login token once. NULL for a wrong, used or late one.
CREATE FUNCTION bank.redeem_login_token(token text) RETURNS uuid
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  found uuid;
BEGIN
  UPDATE bank.login_token SET used_at = bank.bank_clock()
   WHERE token_hash = pg_catalog.sha256(pg_catalog.convert_to(token, 'UTF8'))
     AND used_at IS NULL AND expires_at > bank.bank_clock()
   RETURNING customer_id INTO found;
  RETURN found;
END
$$;

-- Uses a chat code once and opens the chat's own session below the panel's. No row for a wrong, used or late code,
-- or one whose panel session ended.
CREATE FUNCTION bank.redeem_chat_code(code text, bearer_hash bytea)
  RETURNS TABLE (customer_id uuid, display_name text, locale text)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  used bank.chat_code;
  above bank.session_grant;
BEGIN
  UPDATE bank.chat_code c SET redeemed_at = bank.bank_clock()
   WHERE c.code_hash = pg_catalog.sha256(pg_catalog.convert_to(code, 'UTF8'))
     AND c.redeemed_at IS NULL AND c.expires_at > bank.bank_clock()
   RETURNING c.* INTO used;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  SELECT g.* INTO above FROM bank.session_grant g
   WHERE g.grant_id = used.panel_grant_id AND g.audience = 'panel'
     AND g.revoked_at IS NULL AND g.expires_at > bank.bank_clock();
  IF NOT FOUND THEN
    RETURN;
  END IF;
  INSERT INTO bank.session_grant (grant_id, secret_hash, customer_id, audience, parent_grant_id, expires_at)
  VALUES (pg_catalog.gen_random_uuid(), bearer_hash, used.customer_id, 'intake', above.grant_id, above.expires_at);
  RETURN QUERY SELECT k.customer_id, k.display_name, k.locale FROM bank.customer k WHERE k.customer_id = used.customer_id;
END
$$;
GRANT EXECUTE ON FUNCTION bank.end_turn(bytea), bank.redeem_chat_code(text, bytea) TO intake;
GRANT EXECUTE ON FUNCTION bank.end_panel_session(), bank.redeem_login_token(text) TO panel;

-- The functions that open and end sessions run as the owner, which row-level security also binds: these are its rights.
CREATE POLICY owner_keeps_sessions ON bank.session_grant FOR ALL TO cs_owner USING (true) WITH CHECK (true);
CREATE POLICY owner_uses_login_tokens ON bank.login_token FOR ALL TO cs_owner USING (true) WITH CHECK (true);
CREATE POLICY owner_uses_chat_codes ON bank.chat_code FOR ALL TO cs_owner USING (true) WITH CHECK (true);
CREATE POLICY owner_names_the_customer ON bank.customer FOR SELECT TO cs_owner USING (true);

GRANT INSERT (customer_id, code_hash, panel_grant_id), SELECT (customer_id, created_at) ON bank.chat_code TO panel;
CREATE POLICY panel_makes_chat_codes ON bank.chat_code FOR INSERT TO panel
  WITH CHECK (customer_id = (SELECT bank.current_customer()) AND panel_grant_id = (SELECT bank.current_grant()));
CREATE POLICY own_rows ON bank.chat_code FOR SELECT TO panel USING (customer_id = (SELECT bank.current_customer()));

GRANT SELECT (customer_id, display_name, locale) ON bank.customer TO bank_mcp, intake, panel, cs_executor;
CREATE POLICY own_rows ON bank.customer FOR SELECT TO bank_mcp, intake, panel
  USING (customer_id = (SELECT bank.current_customer()));
CREATE POLICY executor_reads_customers ON bank.customer FOR SELECT TO cs_executor USING (true);

RESET ROLE;
-- Each look-up belongs to a role that can do nothing else.
GRANT CREATE ON SCHEMA bank TO cs_lookup, cs_locker;
ALTER FUNCTION bank.current_customer() OWNER TO cs_lookup;
ALTER FUNCTION bank.current_conversation() OWNER TO cs_lookup;
ALTER FUNCTION bank.current_grant() OWNER TO cs_lookup;
ALTER FUNCTION bank.lock_customer() OWNER TO cs_locker;
ALTER FUNCTION bank.lock_customer_row(uuid) OWNER TO cs_locker;
REVOKE CREATE ON SCHEMA bank FROM cs_lookup, cs_locker;
-- A new owner takes over what the old one had; the tables' owner needs these for its policies and functions.
GRANT EXECUTE ON FUNCTION bank.current_customer(), bank.current_conversation(), bank.current_grant() TO cs_owner;
