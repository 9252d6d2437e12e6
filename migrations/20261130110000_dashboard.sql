-- What an operator may see, and the record of who read what a customer wrote.
--
-- The dashboard's login reads states and events, and only while an operator's session secret is set. What customers
-- typed it reads through two steps: the access is recorded in a transaction of its own, and only then answered. In one
-- transaction with the reading the record could be rolled back after the text was seen.
GRANT USAGE ON SCHEMA bank TO dashboard, cs_text_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE cs_text_reader REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
SET LOCAL ROLE cs_owner;

-- A one-use address for an operator, known by its hash.
CREATE TABLE bank.operator_token (
  token_hash bytea PRIMARY KEY CONSTRAINT operator_token_hash_length CHECK (length(token_hash) = 32),
  operator text NOT NULL CONSTRAINT operator_token_name CHECK (operator ~ '^[a-z0-9][a-z0-9._@-]{0,79}$'),
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);

CREATE TABLE bank.operator_session (
  secret_hash bytea PRIMARY KEY CONSTRAINT operator_secret_hash_length CHECK (length(secret_hash) = 32),
  operator text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  expires_at timestamptz NOT NULL,
  ended_at timestamptz
);

-- Who read which conversation, and why. Append-only.
CREATE TABLE bank.text_access (
  access_id uuid PRIMARY KEY,
  operator text NOT NULL,
  customer_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  reason text NOT NULL CONSTRAINT access_reason_length CHECK (length(btrim(reason)) BETWEEN 10 AND 300),
  -- The system's clock, not the bank's: it is compared with the beginning of the transaction that reads.
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  FOREIGN KEY (customer_id, conversation_id) REFERENCES bank.conversation
);
CREATE INDEX text_access_by_time ON bank.text_access (recorded_at DESC);
CREATE TRIGGER access_is_append_only BEFORE UPDATE OR DELETE ON bank.text_access FOR EACH ROW EXECUTE FUNCTION bank.refuse_change();

ALTER TABLE bank.operator_token ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.operator_token FORCE ROW LEVEL SECURITY;
ALTER TABLE bank.operator_session ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.operator_session FORCE ROW LEVEL SECURITY;
ALTER TABLE bank.text_access ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.text_access FORCE ROW LEVEL SECURITY;

GRANT EXECUTE ON FUNCTION bank.bank_clock(), bank.bank_day() TO dashboard, cs_text_reader;
GRANT SELECT ON bank.setting TO dashboard;

-- The look-ups of operators belong to the same owner as those of customers: it reads secrets' hashes and nothing else.
GRANT SELECT, UPDATE (used_at) ON bank.operator_token TO cs_lookup;
CREATE POLICY lookup_uses_tokens ON bank.operator_token FOR ALL TO cs_lookup USING (true) WITH CHECK (true);
GRANT SELECT, INSERT (secret_hash, operator, expires_at), UPDATE (ended_at) ON bank.operator_session TO cs_lookup;
CREATE POLICY lookup_keeps_operators ON bank.operator_session FOR ALL TO cs_lookup USING (true) WITH CHECK (true);
-- Which operator's secret is set; NULL for a wrong or ended one, and for every other login.
CREATE FUNCTION bank.current_operator() RETURNS text
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
     AND s.ended_at IS NULL AND s.expires_at > bank.bank_clock();
  RETURN found;
END
$$;

-- Uses a token once and opens the session whose secret has this hash. Answers the operator's name, or NULL.
CREATE FUNCTION bank.open_operator_session(token text, session_hash bytea, seconds integer) RETURNS text
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  who text;
BEGIN
  IF session_user <> 'dashboard' OR seconds NOT BETWEEN 60 AND 43200 THEN
    RETURN NULL;
  END IF;
  UPDATE bank.operator_token t SET used_at = bank.bank_clock()
   WHERE t.token_hash = pg_catalog.sha256(pg_catalog.convert_to(token, 'UTF8')) AND t.used_at IS NULL AND t.expires_at > bank.bank_clock()
  RETURNING t.operator INTO who;
  IF who IS NOT NULL THEN
    INSERT INTO bank.operator_session (secret_hash, operator, expires_at)
    VALUES (session_hash, who, bank.bank_clock() + seconds * interval '1 second');
  END IF;
  RETURN who;
END
$$;

-- Ends the session whose secret is set. Answers whether it was alive.
CREATE FUNCTION bank.end_operator_session() RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  IF bank.current_operator() IS NULL THEN
    RETURN false;
  END IF;
  UPDATE bank.operator_session s SET ended_at = bank.bank_clock()
   WHERE s.secret_hash = pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.current_setting('countersign.session', true), 'UTF8'))
     AND s.ended_at IS NULL;
  RETURN FOUND;
END
$$;
-- Records that the operator is about to read a conversation, and why. Answers the access's id.
CREATE FUNCTION bank.record_text_access(which_customer uuid, which_conversation uuid, why text) RETURNS uuid
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  who text := bank.current_operator();
  access uuid := pg_catalog.gen_random_uuid();
BEGIN
  IF who IS NULL THEN
    RAISE EXCEPTION 'no live session' USING ERRCODE = 'CS001';
  END IF;
  IF NOT EXISTS (SELECT FROM bank.conversation c WHERE c.customer_id = which_customer AND c.conversation_id = which_conversation) THEN
    RETURN NULL;
  END IF;
  INSERT INTO bank.text_access (access_id, operator, customer_id, conversation_id, reason)
  VALUES (access, who, which_customer, which_conversation, why);
  RETURN access;
END
$$;

-- The conversation of an access that the same operator recorded in an earlier transaction, within the last ten minutes.
-- now() is when this transaction began: an access it recorded itself, in a savepoint or not, is not older.
CREATE FUNCTION bank.read_text(access uuid) RETURNS jsonb
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  a bank.text_access;
BEGIN
  SELECT * INTO a FROM bank.text_access t
   WHERE t.access_id = access AND t.operator = bank.current_operator()
     AND t.recorded_at < pg_catalog.now() AND t.recorded_at > pg_catalog.now() - interval '10 minutes';
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  RETURN pg_catalog.jsonb_build_object(
    'locale', (SELECT c.locale FROM bank.customer c WHERE c.customer_id = a.customer_id),
    'payees', (SELECT coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('name', p.name, 'alias', p.alias) ORDER BY p.payee_id), '[]')
                 FROM bank.payee p WHERE p.customer_id = a.customer_id),
    'messages', (SELECT coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('body', u.body, 'spans', u.spans) ORDER BY u.sequence), '[]')
                   FROM bank.utterance u WHERE u.customer_id = a.customer_id AND u.conversation_id = a.conversation_id));
END
$$;

GRANT EXECUTE ON FUNCTION bank.open_operator_session(text, bytea, integer), bank.end_operator_session(), bank.record_text_access(uuid, uuid, text),
  bank.read_text(uuid) TO dashboard;
GRANT EXECUTE ON FUNCTION bank.current_operator() TO dashboard, cs_text_reader, cs_lookup;

-- Where requests stand and what was decided. No text of a customer stands in these columns.
GRANT SELECT (customer_id, action_id, conversation_id, kind, state, reason, current_version, superseded_by, created_at, expires_at, changed_at)
  ON bank.pending_action TO dashboard;
CREATE POLICY operators_read ON bank.pending_action FOR SELECT TO dashboard USING ((SELECT bank.current_operator()) IS NOT NULL);
GRANT SELECT (customer_id, sequence, kind, action_id, leaf_hash, recorded_at, leaf_index) ON bank.bank_event TO dashboard;
CREATE POLICY operators_read ON bank.bank_event FOR SELECT TO dashboard USING ((SELECT bank.current_operator()) IS NOT NULL);
GRANT SELECT (customer_id, action_id, executed_hash, executed_at) ON bank.execution TO dashboard;
CREATE POLICY operators_read ON bank.execution FOR SELECT TO dashboard USING ((SELECT bank.current_operator()) IS NOT NULL);
GRANT SELECT (tree_size, signed_at) ON bank.log_checkpoint TO dashboard;
CREATE POLICY operators_read ON bank.log_checkpoint FOR SELECT TO dashboard USING ((SELECT bank.current_operator()) IS NOT NULL);
GRANT SELECT ON bank.text_access TO dashboard;
CREATE POLICY operators_read ON bank.text_access FOR SELECT TO dashboard USING ((SELECT bank.current_operator()) IS NOT NULL);

-- An operator finds a request by its id, by its time and by the short code on a receipt (execution, `short_code`), among
-- everybody's.
CREATE INDEX action_by_id ON bank.pending_action (action_id);
CREATE INDEX action_by_change ON bank.pending_action (changed_at DESC);
CREATE INDEX action_by_creation ON bank.pending_action (created_at DESC);
CREATE FUNCTION bank.short_code(executed_hash bytea) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = ''
  AS $$
    SELECT pg_catalog.string_agg(pg_catalog.substr('0123456789BCDFGHJKLMNPQRSTVWXYZ', pg_catalog.get_byte(executed_hash, n) % 31 + 1, 1), '' ORDER BY n)
      FROM pg_catalog.generate_series(0, 7) AS n
  $$;
GRANT EXECUTE ON FUNCTION bank.short_code(bytea) TO dashboard, cs_executor;
CREATE INDEX execution_by_short_code ON bank.execution (bank.short_code(executed_hash));

-- What the reader of texts needs, and no login has.
GRANT SELECT, INSERT (access_id, operator, customer_id, conversation_id, reason) ON bank.text_access TO cs_text_reader;
CREATE POLICY reader_records ON bank.text_access FOR INSERT TO cs_text_reader WITH CHECK (true);
CREATE POLICY reader_looks_up ON bank.text_access FOR SELECT TO cs_text_reader USING (true);
GRANT SELECT (customer_id, conversation_id, sequence, body, spans, recorded_at) ON bank.utterance TO cs_text_reader;
CREATE POLICY reader_reads ON bank.utterance FOR SELECT TO cs_text_reader USING (true);
GRANT SELECT (customer_id, conversation_id) ON bank.conversation TO cs_text_reader;
CREATE POLICY reader_reads ON bank.conversation FOR SELECT TO cs_text_reader USING (true);
GRANT SELECT (customer_id, payee_id, name, alias) ON bank.payee TO cs_text_reader;
CREATE POLICY reader_reads ON bank.payee FOR SELECT TO cs_text_reader USING (true);
GRANT SELECT (customer_id, locale) ON bank.customer TO cs_text_reader;
CREATE POLICY reader_reads ON bank.customer FOR SELECT TO cs_text_reader USING (true);
RESET ROLE;

-- A role may be given a function only where it may create one; right after, it may not.
GRANT CREATE ON SCHEMA bank TO cs_lookup, cs_text_reader;
ALTER FUNCTION bank.current_operator() OWNER TO cs_lookup;
ALTER FUNCTION bank.open_operator_session(text, bytea, integer) OWNER TO cs_lookup;
ALTER FUNCTION bank.end_operator_session() OWNER TO cs_lookup;
ALTER FUNCTION bank.record_text_access(uuid, uuid, text) OWNER TO cs_text_reader;
ALTER FUNCTION bank.read_text(uuid) OWNER TO cs_text_reader;
REVOKE CREATE ON SCHEMA bank FROM cs_lookup, cs_text_reader;
