-- Sign-in at the bank's identity provider: whose account an identity is, which session is the provider's, and how long one may rest.
--
-- A session ends at its end, when its person signs out, when the provider says so, and when nothing was done in it for a while. What
-- is asked in the background (streams, cards looked at again) is nothing done.
SET LOCAL ROLE cs_owner;

ALTER TABLE bank.setting
  -- For this long a session rests before it ends, in seconds.
  ADD COLUMN session_idle_seconds integer NOT NULL DEFAULT 900
    CONSTRAINT session_idle_seconds_range CHECK (session_idle_seconds BETWEEN 180 AND 43200);

CREATE FUNCTION bank.idle_until() RETURNS timestamptz
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  RETURN bank.bank_clock() + (SELECT s.session_idle_seconds FROM bank.setting s) * interval '1 second';
END
$$;
GRANT EXECUTE ON FUNCTION bank.idle_until() TO panel, intake, cs_lookup;

ALTER TABLE bank.session_grant ADD COLUMN idle_until timestamptz NOT NULL DEFAULT bank.idle_until();
ALTER TABLE bank.operator_session ADD COLUMN idle_until timestamptz NOT NULL DEFAULT bank.idle_until();

-- Whose account an identity of the provider is. Written by the bank's own onboarding, by no login of these services.
CREATE TABLE bank.login_identity (
  issuer text NOT NULL CONSTRAINT identity_issuer_length CHECK (length(issuer) BETWEEN 1 AND 500),
  subject text NOT NULL CONSTRAINT identity_subject_length CHECK (length(subject) BETWEEN 1 AND 255),
  customer_id uuid NOT NULL REFERENCES bank.customer,
  linked_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  PRIMARY KEY (issuer, subject)
);
CREATE TABLE bank.operator_identity (
  issuer text NOT NULL CONSTRAINT operator_issuer_length CHECK (length(issuer) BETWEEN 1 AND 500),
  subject text NOT NULL CONSTRAINT operator_subject_length CHECK (length(subject) BETWEEN 1 AND 255),
  operator text NOT NULL CONSTRAINT operator_identity_name CHECK (operator ~ '^[a-z0-9][a-z0-9._@-]{0,79}$'),
  linked_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  PRIMARY KEY (issuer, subject)
);

-- Which of our sessions began with which session of the provider.
CREATE TABLE bank.provider_session (
  secret_hash bytea PRIMARY KEY CONSTRAINT provider_session_hash_length CHECK (length(secret_hash) = 32),
  audience text NOT NULL CONSTRAINT provider_session_audience CHECK (audience IN ('panel', 'dashboard')),
  issuer text NOT NULL,
  subject text NOT NULL,
  sid text CONSTRAINT provider_session_sid_length CHECK (length(sid) BETWEEN 1 AND 255),
  created_at timestamptz NOT NULL DEFAULT bank.bank_clock()
);
CREATE INDEX provider_session_by_subject ON bank.provider_session (issuer, subject, audience);

-- Logout tokens that were used: each counts once for each client. Tokens older than five minutes are refused before they come here.
CREATE TABLE bank.used_logout (
  issuer text NOT NULL,
  audience text NOT NULL,
  token_id text NOT NULL CONSTRAINT logout_token_id_length CHECK (length(token_id) BETWEEN 1 AND 255),
  used_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  PRIMARY KEY (issuer, audience, token_id)
);
CREATE INDEX used_logout_by_time ON bank.used_logout (used_at);

ALTER TABLE bank.login_identity ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.login_identity FORCE ROW LEVEL SECURITY;
ALTER TABLE bank.operator_identity ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.operator_identity FORCE ROW LEVEL SECURITY;
ALTER TABLE bank.provider_session ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.provider_session FORCE ROW LEVEL SECURITY;
ALTER TABLE bank.used_logout ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.used_logout FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_finds_identities ON bank.login_identity FOR SELECT TO cs_owner USING (true);
CREATE POLICY owner_finds_operators ON bank.operator_identity FOR SELECT TO cs_owner USING (true);
CREATE POLICY owner_keeps_provider_sessions ON bank.provider_session FOR ALL TO cs_owner USING (true) WITH CHECK (true);
CREATE POLICY owner_keeps_logouts ON bank.used_logout FOR ALL TO cs_owner USING (true) WITH CHECK (true);
CREATE POLICY owner_keeps_operators ON bank.operator_session FOR ALL TO cs_owner USING (true) WITH CHECK (true);

-- Begins a customer's session for an identity of the provider. Answers the customer, or NULL for an identity that is nobody's.
CREATE FUNCTION bank.sign_in_customer(
  provider text, identity text, provider_sid text, new_grant uuid, session_hash bytea, seconds integer
) RETURNS uuid
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  whose uuid;
BEGIN
  IF session_user <> 'panel' OR seconds NOT BETWEEN 60 AND 43200 THEN
    RETURN NULL;
  END IF;
  SELECT i.customer_id INTO whose FROM bank.login_identity i WHERE i.issuer = provider AND i.subject = identity;
  IF whose IS NULL THEN
    RETURN NULL;
  END IF;
  INSERT INTO bank.session_grant (grant_id, secret_hash, customer_id, audience, expires_at)
  VALUES (new_grant, session_hash, whose, 'panel', bank.bank_clock() + seconds * interval '1 second');
  INSERT INTO bank.provider_session (secret_hash, audience, issuer, subject, sid)
  VALUES (session_hash, 'panel', provider, identity, provider_sid);
  RETURN whose;
END
$$;

-- The same for an operator. Answers the operator's name.
CREATE FUNCTION bank.sign_in_operator(provider text, identity text, provider_sid text, session_hash bytea, seconds integer) RETURNS text
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  who text;
BEGIN
  IF session_user <> 'dashboard' OR seconds NOT BETWEEN 60 AND 43200 THEN
    RETURN NULL;
  END IF;
  SELECT i.operator INTO who FROM bank.operator_identity i WHERE i.issuer = provider AND i.subject = identity;
  IF who IS NULL THEN
    RETURN NULL;
  END IF;
  INSERT INTO bank.operator_session (secret_hash, operator, expires_at)
  VALUES (session_hash, who, bank.bank_clock() + seconds * interval '1 second');
  INSERT INTO bank.provider_session (secret_hash, audience, issuer, subject, sid)
  VALUES (session_hash, 'dashboard', provider, identity, provider_sid);
  RETURN who;
END
$$;

-- Ends the caller's sessions that a logout token names: one of the provider's sessions, or all of a subject. Answers the hashes of their
-- secrets, or NULL for a token that was used before.
CREATE FUNCTION bank.end_by_provider(provider text, identity text, provider_sid text, logout_id text) RETURNS bytea[]
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  named bytea[];
BEGIN
  IF session_user NOT IN ('panel', 'dashboard') THEN
    RETURN NULL;
  END IF;
  DELETE FROM bank.used_logout u WHERE u.used_at < bank.bank_clock() - interval '1 hour';
  INSERT INTO bank.used_logout (issuer, audience, token_id) VALUES (provider, session_user, logout_id) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  SELECT coalesce(array_agg(s.secret_hash), '{}') INTO named FROM bank.provider_session s
   WHERE s.issuer = provider AND s.subject = identity AND s.audience = session_user
     AND (provider_sid IS NULL OR s.sid = provider_sid);
  UPDATE bank.session_grant g SET revoked_at = bank.bank_clock()
   WHERE g.secret_hash = ANY (named) AND g.audience = session_user AND g.revoked_at IS NULL;
  UPDATE bank.operator_session o SET ended_at = bank.bank_clock()
   WHERE session_user = 'dashboard' AND o.secret_hash = ANY (named) AND o.ended_at IS NULL;
  RETURN named;
END
$$;

-- Says that the person behind the caller's session has just done something: it, and the sessions it hangs on, rest anew. Written at most once a minute;
-- answers whether it was.
CREATE FUNCTION bank.touch_session() RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  own uuid := bank.current_grant();
BEGIN
  IF bank.current_customer() IS NULL THEN
    RETURN false;
  END IF;
  UPDATE bank.session_grant g SET idle_until = bank.idle_until()
   WHERE (g.grant_id = own
       OR g.grant_id = (SELECT p.parent_grant_id FROM bank.session_grant p WHERE p.grant_id = own))
     AND g.idle_until < bank.idle_until() - interval '1 minute';
  RETURN FOUND;
END
$$;
CREATE FUNCTION bank.touch_operator() RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  IF bank.current_operator() IS NULL THEN
    RETURN false;
  END IF;
  UPDATE bank.operator_session s SET idle_until = bank.idle_until()
   WHERE s.secret_hash = pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.current_setting('countersign.session', true), 'UTF8'))
     AND s.idle_until < bank.idle_until() - interval '1 minute';
  RETURN FOUND;
END
$$;
GRANT EXECUTE ON FUNCTION bank.sign_in_customer(text, text, text, uuid, bytea, integer) TO panel;
GRANT EXECUTE ON FUNCTION bank.sign_in_operator(text, text, text, bytea, integer) TO dashboard;
GRANT EXECUTE ON FUNCTION bank.end_by_provider(text, text, text, text) TO panel, dashboard;
GRANT EXECUTE ON FUNCTION bank.touch_session() TO panel, intake;
GRANT EXECUTE ON FUNCTION bank.touch_operator() TO dashboard;
RESET ROLE;
GRANT EXECUTE ON FUNCTION bank.current_operator() TO cs_owner;

-- The look-ups belong to a role that can do nothing else, which may put new ones in their place for this moment.
GRANT CREATE ON SCHEMA bank TO cs_lookup;
SET LOCAL ROLE cs_lookup;
CREATE OR REPLACE FUNCTION bank.current_customer() RETURNS uuid
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
     AND g.revoked_at IS NULL AND least(g.expires_at, g.idle_until) > bank.bank_clock()
     AND (g.parent_grant_id IS NULL OR (p.revoked_at IS NULL AND least(p.expires_at, p.idle_until) > bank.bank_clock()))
     AND (p.parent_grant_id IS NULL OR (pp.revoked_at IS NULL AND least(pp.expires_at, pp.idle_until) > bank.bank_clock()));
  RETURN found;
END
$$;
CREATE OR REPLACE FUNCTION bank.current_operator() RETURNS text
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  found text;
BEGIN
  IF session_user <> 'dashboard' THEN
    RETURN NULL;
  END IF;
  SELECT s.operator INTO found
    FROM bank.operator_session s
   WHERE s.secret_hash = pg_catalog.sha256(pg_catalog.convert_to(nullif(pg_catalog.current_setting('countersign.session', true), ''), 'UTF8'))
     AND s.ended_at IS NULL AND least(s.expires_at, s.idle_until) > bank.bank_clock();
  RETURN found;
END
$$;
RESET ROLE;
REVOKE CREATE ON SCHEMA bank FROM cs_lookup;
