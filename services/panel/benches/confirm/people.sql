-- Customers who each pay the next one 20 euros, once: everything that a press needs but the showing. Not a step-up, not a hold, no time to undo.
CREATE FUNCTION bank.bench_id(kind bigint, n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE SET search_path = ''
  AS $$ SELECT (pg_catalog.lpad(pg_catalog.to_hex(kind), 8, '0') || '-0000-4000-8000-' || pg_catalog.lpad(pg_catalog.to_hex(n), 12, '0'))::uuid $$;

CREATE FUNCTION bank.bench_people(people bigint, entries bigint) RETURNS void
  LANGUAGE plpgsql SET search_path = ''
  AS $$
BEGIN
  UPDATE bank.setting SET undo_seconds = 0;
  CREATE TEMPORARY TABLE who ON COMMIT DROP AS
    SELECT n, bank.bench_id(1, n) AS id, bank.bench_id(2, n) AS account, 'DE10' || pg_catalog.lpad(n::text, 18, '0') AS iban,
           'DE10' || pg_catalog.lpad((n % people + 1)::text, 18, '0') AS other_iban
      FROM pg_catalog.generate_series(1, people) n;
  INSERT INTO bank.customer (customer_id, display_name, canary_code) SELECT id, 'Bob Lane', 'TZ4KQ7WMX2RFH9CB' FROM pg_temp.who;
  INSERT INTO bank.customer_lock (customer_id) SELECT id FROM pg_temp.who;
  INSERT INTO bank.event_head (customer_id) SELECT id FROM pg_temp.who;
  INSERT INTO bank.profile (customer_id) SELECT id FROM pg_temp.who;
  INSERT INTO bank.customer_limit (customer_id, currency, per_transfer_minor_units, per_day_minor_units, pending_total_minor_units,
      first_payment_minor_units, step_up_over_minor_units)
    SELECT id, 'EUR', 1000000, 1000000, 1000000, 1000000, 1000000 FROM pg_temp.who;
  INSERT INTO bank.account (customer_id, account_id, label, kind, currency, is_default, iban)
    SELECT id, account, 'Current', 'current', 'EUR', true, iban FROM pg_temp.who;
  INSERT INTO bank.account_directory (iban, customer_id, account_id) SELECT iban, id, account FROM pg_temp.who;
  INSERT INTO bank.account_balance (customer_id, account_id, balance_minor_units) SELECT id, account, 1000000 FROM pg_temp.who;
  INSERT INTO bank.payee (customer_id, payee_id, name, iban) SELECT id, bank.bench_id(3, n), 'Bob Lane', other_iban FROM pg_temp.who;
  INSERT INTO bank.payee_paid (customer_id, payee_id, first_paid_at, payments_count)
    SELECT id, bank.bench_id(3, n), bank.bank_clock() - interval '30 days', 3 FROM pg_temp.who;
  INSERT INTO bank.session_grant (grant_id, customer_id, secret_hash, audience, expires_at)
    SELECT bank.bench_id(6, n), id, pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.lpad(pg_catalog.to_hex(n), 64, '0'), 'UTF8')), 'panel',
           bank.bank_clock() + interval '8 hours' FROM pg_temp.who;
  INSERT INTO bank.conversation (customer_id, conversation_id) SELECT id, bank.bench_id(7, n) FROM pg_temp.who;
  INSERT INTO bank.utterance (customer_id, conversation_id, utterance_id, client_message_id, body)
    SELECT id, bank.bench_id(7, n), bank.bench_id(8, n), bank.bench_id(8, n), 'Send 20 to Bob' FROM pg_temp.who;
  INSERT INTO bank.pending_action (customer_id, action_id, conversation_id, kind, target_key, grounded_through, expires_at)
    SELECT id, bank.bench_id(9, n), bank.bench_id(7, n), 'transfer', 'transfer',
           (SELECT max(u.sequence) FROM bank.utterance u WHERE u.customer_id = id), bank.bank_clock() + interval '2 hours' FROM pg_temp.who;
  INSERT INTO bank.pending_version (customer_id, action_id, version, currency, from_account_id, rules_version, provenance_version)
    SELECT id, bank.bench_id(9, n), 1, 'EUR', account, 'rules/1', 'provenance/2' FROM pg_temp.who;
  INSERT INTO bank.pending_line (customer_id, action_id, version, line_number, payee_id, amount_minor_units)
    SELECT id, bank.bench_id(9, n), 1, 1, bank.bench_id(3, n), 2000 FROM pg_temp.who;
  -- A past: transfers from elsewhere, in and out by turns, spread over everybody and the year before.
  INSERT INTO bank.transfer (customer_id, transfer_id, account_id, kind, state, amount_minor_units, currency, counterparty_name, created_at, posted_at)
    SELECT bank.bench_id(1, g % people + 1), bank.bench_id(10, g), bank.bench_id(2, g % people + 1), 'card_payment', 'posted', 100, 'EUR', 'Shop',
           t.at, t.at
      FROM pg_catalog.generate_series(1, entries / 2) g, LATERAL (SELECT bank.bank_clock() - interval '1 day' - (g % 31536000) * interval '1 second' AS at) t;
  INSERT INTO bank.entry (customer_id, transfer_id, leg, book, account_id, amount_minor_units, currency, booked_at)
    SELECT bank.bench_id(1, g % people + 1), bank.bench_id(10, g), l.leg, l.book, CASE WHEN l.book = 'account' THEN bank.bench_id(2, g % people + 1) END,
           l.amount, 'EUR', bank.bank_clock() - interval '1 day' - (g % 31536000) * interval '1 second'
      FROM pg_catalog.generate_series(1, entries / 2) g, (VALUES (1::smallint, 'account', -100), (2::smallint, 'settlement', 100)) AS l (leg, book, amount);
END
$$;
