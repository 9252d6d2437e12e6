-- What the chat origin needs to notice a leak, and what it records of what it noticed.
--
-- A customer's canary is known here by the keyed hashes of its runs of ten characters: whoever asks learns that a run is
-- somebody else's, never whose, and a copy of the table gives nobody's code. The chat origin hashes, so that no text of a
-- reply travels. What it notices it may only write down: no select, no update, no delete.
SET LOCAL ROLE cs_owner;

-- Every run of ten characters of a code has a digit that is not taken for a letter: prose has no such runs.
ALTER TABLE bank.customer ADD CONSTRAINT canary_code_has_digits CHECK (canary_code !~ '[^2-9]{10}');

CREATE TABLE bank.canary_key (
  only_one boolean PRIMARY KEY DEFAULT true CONSTRAINT canary_key_is_one CHECK (only_one),
  key bytea NOT NULL CONSTRAINT canary_key_length CHECK (length(key) = 32)
);
INSERT INTO bank.canary_key (key)
SELECT pg_catalog.sha256(pg_catalog.uuid_send(pg_catalog.gen_random_uuid()) || pg_catalog.uuid_send(pg_catalog.gen_random_uuid())
                         || pg_catalog.uuid_send(pg_catalog.gen_random_uuid()));

CREATE TABLE bank.canary_run (
  customer_id uuid NOT NULL REFERENCES bank.customer,
  run_hash bytea NOT NULL CONSTRAINT canary_run_hash_length CHECK (length(run_hash) = 32),
  PRIMARY KEY (customer_id, run_hash)
);
CREATE INDEX canary_run_by_hash ON bank.canary_run (run_hash);

ALTER TABLE bank.canary_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.canary_key FORCE ROW LEVEL SECURITY;
ALTER TABLE bank.canary_run ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.canary_run FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_keeps ON bank.canary_key FOR ALL TO cs_owner USING (true) WITH CHECK (true);
CREATE POLICY owner_keeps ON bank.canary_run FOR ALL TO cs_owner USING (true) WITH CHECK (true);
GRANT SELECT ON bank.canary_key, bank.canary_run TO cs_lookup;
CREATE POLICY lookup_reads ON bank.canary_key FOR SELECT TO cs_lookup USING (true);
CREATE POLICY lookup_reads ON bank.canary_run FOR SELECT TO cs_lookup USING (true);

-- The runs of a code, in the folded form that the readers of texts use: O is no letter of a code, L looks like 1.
CREATE FUNCTION bank.keep_canary_runs() RETURNS trigger
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  DELETE FROM bank.canary_run r WHERE r.customer_id = NEW.customer_id;
  INSERT INTO bank.canary_run (customer_id, run_hash)
  SELECT NEW.customer_id,
         pg_catalog.sha256(k.key || pg_catalog.convert_to(pg_catalog.substr(pg_catalog.translate(NEW.canary_code, 'L', '1'), n, 10), 'UTF8'))
    FROM bank.canary_key k, pg_catalog.generate_series(1, 7) AS n
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER canary_runs_are_kept AFTER INSERT OR UPDATE OF canary_code ON bank.customer
  FOR EACH ROW EXECUTE FUNCTION bank.keep_canary_runs();

-- The key, for the one login that hashes.
CREATE FUNCTION bank.canary_key() RETURNS bytea
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  IF session_user <> 'intake' THEN
    RETURN NULL;
  END IF;
  RETURN (SELECT k.key FROM bank.canary_key k);
END
$$;

-- Whether one of these runs is of another customer's code. NULL when nobody's secret is set: the caller then has no
-- customer to compare with, and must not pass on what it asked about.
CREATE FUNCTION bank.canary_belongs_to_another(run_hashes bytea[]) RETURNS boolean
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  me uuid := bank.current_customer();
BEGIN
  IF me IS NULL OR pg_catalog.cardinality(run_hashes) > 20000 THEN
    RETURN NULL;
  END IF;
  RETURN EXISTS (
    SELECT FROM bank.canary_run r
     WHERE r.run_hash = ANY (run_hashes) AND r.customer_id <> me
       AND NOT EXISTS (SELECT FROM bank.canary_run mine WHERE mine.customer_id = me AND mine.run_hash = r.run_hash));
END
$$;
GRANT EXECUTE ON FUNCTION bank.canary_key(), bank.canary_belongs_to_another(bytea[]) TO intake;

-- What the chat origin noticed in a turn: how often which rule held. Append-only, no text.
CREATE TABLE bank.chat_event (
  customer_id uuid NOT NULL,
  event_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  reply_id uuid NOT NULL,
  kind text NOT NULL CONSTRAINT chat_event_kind CHECK (kind IN
    ('canary_alarm', 'secret_asked', 'injection_flagged', 'masked', 'foreign_contact', 'guardrail_hit', 'claim_corrected')),
  rule text NOT NULL CONSTRAINT chat_event_rule CHECK (rule ~ '^[a-z0-9_]{1,64}$'),
  number integer NOT NULL CONSTRAINT chat_event_number CHECK (number BETWEEN 1 AND 100000),
  recorded_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  PRIMARY KEY (customer_id, event_id),
  FOREIGN KEY (customer_id, conversation_id, reply_id) REFERENCES bank.reply (customer_id, conversation_id, reply_id)
);
CREATE INDEX chat_event_by_time ON bank.chat_event (recorded_at DESC);
CREATE TRIGGER chat_event_is_append_only BEFORE UPDATE OR DELETE ON bank.chat_event FOR EACH ROW EXECUTE FUNCTION bank.refuse_change();
ALTER TABLE bank.chat_event ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.chat_event FORCE ROW LEVEL SECURITY;
GRANT INSERT (customer_id, event_id, conversation_id, reply_id, kind, rule, number) ON bank.chat_event TO intake;
CREATE POLICY intake_records ON bank.chat_event FOR INSERT TO intake WITH CHECK (customer_id = (SELECT bank.current_customer()));
GRANT SELECT ON bank.chat_event TO dashboard;
CREATE POLICY operators_read ON bank.chat_event FOR SELECT TO dashboard USING ((SELECT bank.current_operator()) IS NOT NULL);

-- What a turn used of the model, as the agent says: a budget, not an account.
CREATE TABLE bank.model_use (
  customer_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  reply_id uuid NOT NULL,
  input_tokens integer NOT NULL CONSTRAINT input_tokens_are_counted CHECK (input_tokens >= 0),
  output_tokens integer NOT NULL CONSTRAINT output_tokens_are_counted CHECK (output_tokens >= 0),
  cost_micros bigint NOT NULL CONSTRAINT cost_is_counted CHECK (cost_micros BETWEEN 0 AND 1000000000000),
  recorded_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  PRIMARY KEY (customer_id, conversation_id, reply_id),
  FOREIGN KEY (customer_id, conversation_id, reply_id) REFERENCES bank.reply (customer_id, conversation_id, reply_id)
);
CREATE INDEX model_use_by_customer ON bank.model_use (customer_id, recorded_at);
CREATE INDEX model_use_by_time ON bank.model_use (recorded_at DESC);
CREATE TRIGGER model_use_is_append_only BEFORE UPDATE OR DELETE ON bank.model_use FOR EACH ROW EXECUTE FUNCTION bank.refuse_change();
ALTER TABLE bank.model_use ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.model_use FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT (customer_id, conversation_id, reply_id, input_tokens, output_tokens, cost_micros) ON bank.model_use TO intake;
CREATE POLICY intake_keeps ON bank.model_use FOR ALL TO intake USING (customer_id = (SELECT bank.current_customer()))
  WITH CHECK (customer_id = (SELECT bank.current_customer()));
GRANT SELECT ON bank.model_use TO dashboard;
CREATE POLICY operators_read ON bank.model_use FOR SELECT TO dashboard USING ((SELECT bank.current_operator()) IS NOT NULL);

INSERT INTO bank.canary_run (customer_id, run_hash)
SELECT c.customer_id,
       pg_catalog.sha256(k.key || pg_catalog.convert_to(pg_catalog.substr(pg_catalog.translate(c.canary_code, 'L', '1'), n, 10), 'UTF8'))
  FROM bank.customer c, bank.canary_key k, pg_catalog.generate_series(1, 7) AS n
ON CONFLICT DO NOTHING;
RESET ROLE;

-- A role may be given a function only where it may create one; right after, it may not.
GRANT CREATE ON SCHEMA bank TO cs_lookup;
ALTER FUNCTION bank.canary_key() OWNER TO cs_lookup;
ALTER FUNCTION bank.canary_belongs_to_another(bytea[]) OWNER TO cs_lookup;
REVOKE CREATE ON SCHEMA bank FROM cs_lookup;
