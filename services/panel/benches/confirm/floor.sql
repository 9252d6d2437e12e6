-- The floors beside which a Confirm is measured, in a schema of the bench's own database: one row committed, and the least that a Confirm
-- can be in one call: the customer's row locked, the request looked at by the clock after it, the day's counter, two entries, two
-- balances in the order of their numbers, a chained receipt, a message for elsewhere.
DROP SCHEMA IF EXISTS floor CASCADE;
CREATE SCHEMA floor;
CREATE TABLE floor.nothing (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, value bigint);
CREATE TABLE floor.person (id bigint PRIMARY KEY, day date NOT NULL DEFAULT 'epoch', spent bigint NOT NULL DEFAULT 0, daily bigint NOT NULL,
  chain bigint NOT NULL DEFAULT 0, chain_hash bytea NOT NULL DEFAULT '\x00') WITH (fillfactor = 70);
CREATE TABLE floor.account (id bigint PRIMARY KEY REFERENCES floor.person, balance bigint NOT NULL CHECK (balance >= 0)) WITH (fillfactor = 70);
CREATE TABLE floor.request (id bigint PRIMARY KEY, person bigint NOT NULL REFERENCES floor.person, payee bigint NOT NULL REFERENCES floor.account,
  amount bigint NOT NULL CHECK (amount > 0), shown bytea NOT NULL, state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done')),
  ends timestamptz NOT NULL, done_at timestamptz) WITH (fillfactor = 80);
CREATE TABLE floor.leg (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, request bigint NOT NULL, side smallint NOT NULL,
  account bigint NOT NULL REFERENCES floor.account, amount bigint NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp(), UNIQUE (request, side));
CREATE INDEX ON floor.leg (account, at) INCLUDE (amount);
CREATE TABLE floor.receipt (request bigint PRIMARY KEY REFERENCES floor.request, person bigint NOT NULL, number bigint NOT NULL, hash bytea NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE TABLE floor.outbox (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, about jsonb NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp());

CREATE FUNCTION floor.b_function_full(who bigint, which bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  p floor.person;
  r floor.request;
  today date;
  before bigint;
  hash bytea;
BEGIN
  SELECT * INTO p FROM floor.person WHERE id = who FOR NO KEY UPDATE;
  SELECT * INTO r FROM floor.request WHERE id = which AND person = who;
  IF NOT FOUND OR r.state <> 'open' OR r.ends <= clock_timestamp() THEN
    RETURN 'refused';
  END IF;
  today := (clock_timestamp() AT TIME ZONE 'UTC')::date;
  before := CASE WHEN p.day = today THEN p.spent ELSE 0 END;
  IF before + r.amount > p.daily THEN
    RETURN 'refused';
  END IF;
  UPDATE floor.account SET balance = balance + CASE WHEN id = who THEN -r.amount ELSE r.amount END WHERE id = least(who, r.payee);
  UPDATE floor.account SET balance = balance + CASE WHEN id = who THEN -r.amount ELSE r.amount END WHERE id = greatest(who, r.payee);
  INSERT INTO floor.leg (request, side, account, amount) VALUES (which, -1, who, -r.amount), (which, 1, r.payee, r.amount);
  UPDATE floor.request SET state = 'done', done_at = clock_timestamp() WHERE id = which;
  hash := sha256(p.chain_hash || r.shown || int8send(which) || int8send(p.chain + 1));
  INSERT INTO floor.receipt (request, person, number, hash) VALUES (which, who, p.chain + 1, hash);
  UPDATE floor.person SET day = today, spent = before + r.amount, chain = chain + 1, chain_hash = hash WHERE id = who;
  INSERT INTO floor.outbox (about) VALUES (jsonb_build_object('request', which, 'amount', r.amount));
  RETURN 'done';
END
$$;
