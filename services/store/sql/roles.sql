-- Roles are cluster-wide, so they are made here, idempotently, and not by a migration that every database repeats.
--
-- A login role is one process's (or one loop's) right to the database, and its name is the audience that its
-- session grants carry. A role without login owns things: whoever can log in owns nothing.
DO $roles$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['bank_mcp', 'intake', 'panel', 'poster', 'sweeper', 'releaser', 'relay', 'checker', 'notary', 'dashboard'] LOOP
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name) THEN
      EXECUTE format('CREATE ROLE %I', name);
    END IF;
    EXECUTE format('ALTER ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 100', name);
    EXECUTE format('ALTER ROLE %I SET search_path = ''''', name);
    -- A waiting customer is told "busy" rather than left waiting; an idle transaction holds a customer's lock.
    EXECUTE format('ALTER ROLE %I SET lock_timeout = ''2s''', name);
    EXECUTE format('ALTER ROLE %I SET statement_timeout = ''10s''', name);
    EXECUTE format('ALTER ROLE %I SET idle_in_transaction_session_timeout = ''10s''', name);
  END LOOP;
  -- Copies: reads everything, row-level security or not, and writes nothing. No process of the bank holds it.
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'backup') THEN
    CREATE ROLE backup;
  END IF;
  ALTER ROLE backup LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION BYPASSRLS CONNECTION LIMIT 4;
  ALTER ROLE backup SET search_path = '';
  ALTER ROLE backup SET default_transaction_read_only = on;
  FOREACH name IN ARRAY ARRAY['cs_owner', 'cs_lookup', 'cs_executor', 'cs_recorder', 'cs_ledger_check', 'cs_locker', 'cs_text_reader', 'cs_operator'] LOOP
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name) THEN
      EXECUTE format('CREATE ROLE %I', name);
    END IF;
    EXECUTE format('ALTER ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS', name);
  END LOOP;
END
$roles$;
