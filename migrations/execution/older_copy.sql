-- Whether the database is the one that the panel remembers, part of the execution path. A panel keeps the newest head of the log that it
-- has signed or seen outside the database; here it is compared. Applied with execution.sql; owned by cs_executor like everything there.

-- How the head that somebody remembers stands in this database: stands, accepted by a person of the bank though it is not here,
-- behind (this copy is older), or forked (this copy went on without it). Nothing remembered stands.
CREATE OR REPLACE FUNCTION bank.log_standing(p_size bigint, p_root bytea) RETURNS text
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  IF p_size = 0 THEN
    RETURN 'stands';
  END IF;
  PERFORM 1 FROM bank.log_checkpoint c WHERE c.tree_size = p_size AND c.root_hash = p_root;
  IF FOUND THEN
    RETURN 'stands';
  END IF;
  PERFORM 1 FROM bank.log_gap g WHERE g.remembered_size = p_size AND g.remembered_root = p_root AND g.accepted_at IS NOT NULL;
  IF FOUND THEN
    RETURN 'accepted';
  END IF;
  RETURN CASE WHEN coalesce((SELECT max(c.tree_size) FROM bank.log_checkpoint c), 0) < p_size THEN 'behind' ELSE 'forked' END;
END
$$;

-- The same, and what is missing is noted down for a person of the bank.
CREATE OR REPLACE FUNCTION bank.look_at_log(p_size bigint, p_root bytea) RETURNS text
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  standing text := bank.log_standing(p_size, p_root);
BEGIN
  IF standing IN ('behind', 'forked') THEN
    INSERT INTO bank.log_gap (gap_id, remembered_size, remembered_root, found_size)
    VALUES (pg_catalog.gen_random_uuid(), p_size, p_root, coalesce((SELECT max(c.tree_size) FROM bank.log_checkpoint c), 0))
    ON CONFLICT (remembered_size, remembered_root) DO NOTHING;
  END IF;
  RETURN standing;
END
$$;

-- An operator accepts that what the panel remembers is not in this database. From then on it is the bank's record, and the
-- log says so: what was remembered, what is here, who accepted it.
CREATE OR REPLACE FUNCTION bank.accept_gap(p_gap uuid, p_operator text) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  by_whom text := bank.operator_named(p_operator);
  gap bank.log_gap;
  event bytea;
  leaf bytea;
BEGIN
  UPDATE bank.log_gap SET accepted_at = bank.bank_clock(), accepted_by = by_whom
   WHERE gap_id = p_gap AND accepted_at IS NULL RETURNING * INTO gap;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  event := pg_catalog.convert_to(pg_catalog.format(
    '{"at":"%s","event":"gap_accepted","found_size":%s,"operator":"%s","remembered_root":"%s","remembered_size":%s}',
    pg_catalog.to_char(gap.accepted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    coalesce((SELECT max(c.tree_size) FROM bank.log_checkpoint c), 0), by_whom,
    pg_catalog.encode(gap.remembered_root, 'hex'), gap.remembered_size), 'UTF8');
  leaf := pg_catalog.sha256('\x00'::bytea || event);
  -- Of two at once, the one whose number is taken accepts nothing: a link of a chain is one.
  INSERT INTO bank.log_event (sequence, kind, payload, leaf_hash, chain_hash)
  SELECT coalesce(max(e.sequence), 0) + 1, 'gap_accepted', event, leaf,
    pg_catalog.sha256(coalesce((SELECT l.chain_hash FROM bank.log_event l ORDER BY l.sequence DESC LIMIT 1),
      pg_catalog.decode(pg_catalog.repeat('00', 32), 'hex')) || leaf)
    FROM bank.log_event e;
  RETURN true;
END
$$;

DO $ownership$
DECLARE
  signature text;
BEGIN
  GRANT CREATE ON SCHEMA bank TO cs_executor;
  FOREACH signature IN ARRAY ARRAY['bank.log_standing(bigint, bytea)', 'bank.look_at_log(bigint, bytea)', 'bank.accept_gap(uuid, text)'] LOOP
    EXECUTE format('ALTER FUNCTION %s OWNER TO cs_executor', signature);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', signature);
  END LOOP;
  REVOKE CREATE ON SCHEMA bank FROM cs_executor;
END
$ownership$;
GRANT EXECUTE ON FUNCTION bank.log_standing(bigint, bytea) TO panel;
GRANT EXECUTE ON FUNCTION bank.look_at_log(bigint, bytea) TO notary;
GRANT EXECUTE ON FUNCTION bank.accept_gap(uuid, text) TO cs_operator;
