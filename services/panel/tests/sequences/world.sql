-- What the sequences add to a database of their own: a clock that stands until it is moved, an eye on every edge that is taken, and the
-- invariants of the ledger as one question about two customers.

CREATE TABLE bank.test_clock (at timestamptz NOT NULL);
ALTER TABLE bank.test_clock OWNER TO cs_owner;
INSERT INTO bank.test_clock VALUES ('2027-01-11 09:00:00+00');
CREATE OR REPLACE FUNCTION bank.bank_clock() RETURNS timestamptz
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = ''
  AS $$ BEGIN RETURN (SELECT c.at FROM bank.test_clock c); END $$;
-- Days pass in sessions that somebody is meant to have used all along.
ALTER TABLE bank.session_grant ALTER COLUMN idle_until SET DEFAULT 'infinity';

CREATE TABLE bank.test_edge (customer_id uuid, what text, id uuid, old_state text, new_state text);
CREATE INDEX ON bank.test_edge (customer_id);
CREATE FUNCTION bank.test_note_edge() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = ''
  AS $$
BEGIN
  IF TG_ARGV[0] = 'action' THEN
    INSERT INTO bank.test_edge VALUES (NEW.customer_id, 'action', NEW.action_id, CASE TG_OP WHEN 'UPDATE' THEN OLD.state END, NEW.state);
  ELSE
    INSERT INTO bank.test_edge VALUES (NEW.customer_id, 'transfer', NEW.transfer_id, CASE TG_OP WHEN 'UPDATE' THEN OLD.state END, NEW.state);
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER test_edges AFTER INSERT OR UPDATE OF state ON bank.pending_action FOR EACH ROW EXECUTE FUNCTION bank.test_note_edge('action');
CREATE TRIGGER test_edges AFTER INSERT OR UPDATE OF state ON bank.transfer FOR EACH ROW EXECUTE FUNCTION bank.test_note_edge('transfer');

-- Pairs of customers, numbered from `first`: each pays Bob and Carol outside the bank and the other one inside it.
CREATE FUNCTION bank.test_people(first integer, pairs integer, secrets bytea[]) RETURNS void
  LANGUAGE plpgsql SET search_path = ''
  AS $$
BEGIN
  CREATE TEMPORARY TABLE who ON COMMIT DROP AS
    SELECT n, bank.test_id(1, n) AS id, bank.test_id(1, CASE WHEN n % 2 = 0 THEN n + 1 ELSE n - 1 END) AS other,
           CASE WHEN n % 2 = 0 THEN 'Ada Lane' ELSE 'Kabir Rao' END AS name,
           CASE WHEN n % 2 = 0 THEN 'Kabir Rao' ELSE 'Ada Lane' END AS other_name,
           secrets[n - first + 1] AS secret_hash
      FROM pg_catalog.generate_series(first, first + 2 * pairs - 1) n;
  INSERT INTO bank.customer (customer_id, display_name, canary_code) SELECT id, name, 'TZ4KQ7WMX2RFH9CB' FROM pg_temp.who;
  INSERT INTO bank.customer_lock (customer_id) SELECT id FROM pg_temp.who;
  INSERT INTO bank.event_head (customer_id) SELECT id FROM pg_temp.who;
  INSERT INTO bank.profile (customer_id) SELECT id FROM pg_temp.who;
  INSERT INTO bank.customer_limit (customer_id, currency, per_transfer_minor_units, per_day_minor_units, pending_total_minor_units,
      first_payment_minor_units, step_up_over_minor_units)
    SELECT id, 'EUR', 60000, 100000, 90000, 25000, 1000000 FROM pg_temp.who;
  INSERT INTO bank.account (customer_id, account_id, label, kind, currency, is_default, iban)
    SELECT id, bank.test_id(2, n), 'Current', 'current', 'EUR', true, 'DE10' || pg_catalog.lpad(n::text, 14, '0') FROM pg_temp.who;
  INSERT INTO bank.account_directory (iban, customer_id, account_id)
    SELECT 'DE10' || pg_catalog.lpad(n::text, 14, '0'), id, bank.test_id(2, n) FROM pg_temp.who;
  INSERT INTO bank.account_balance (customer_id, account_id, balance_minor_units) SELECT id, bank.test_id(2, n), 120000 FROM pg_temp.who;
  INSERT INTO bank.payee (customer_id, payee_id, name, iban)
    SELECT w.id, bank.test_id(p.number, w.n), coalesce(p.name, w.other_name),
           CASE WHEN p.name IS NULL THEN 'DE10' || pg_catalog.lpad((CASE WHEN w.n % 2 = 0 THEN w.n + 1 ELSE w.n - 1 END)::text, 14, '0')
                ELSE 'GB2' || p.number || pg_catalog.lpad(w.n::text, 14, '0') END
      FROM pg_temp.who w, (VALUES (3, 'Bob'), (4, 'Carol'), (5, NULL)) AS p (number, name);
  INSERT INTO bank.payee_paid (customer_id, payee_id, first_paid_at, payments_count)
    SELECT p.customer_id, p.payee_id, bank.bank_clock() - interval '30 days', 3 FROM bank.payee p JOIN pg_temp.who w ON w.id = p.customer_id;
  INSERT INTO bank.session_grant (grant_id, customer_id, secret_hash, audience, expires_at)
    SELECT bank.test_id(6, n), id, secret_hash, 'panel', bank.bank_clock() + interval '3650 days' FROM pg_temp.who;
  INSERT INTO bank.conversation (customer_id, conversation_id)
    SELECT w.id, bank.test_id(c, w.n) FROM pg_temp.who w, (VALUES (7), (8)) AS x (c);
  INSERT INTO bank.operator_rule (rule_id, customer_id, currency, above_minor_units, operator)
    SELECT bank.test_id(9, n), id, 'EUR', 35000, 'grace' FROM pg_temp.who;
  INSERT INTO bank.passkey (customer_id, passkey_id, credential_id, credential_hash, credential, name, synced, vouched)
    SELECT w.id, bank.test_id(10, w.n), k.credential_id, k.credential_hash, k.credential, 'Phone', true, true
      FROM pg_temp.who w, (SELECT * FROM bank.passkey LIMIT 1) k
  ON CONFLICT DO NOTHING;
END
$$;

CREATE FUNCTION bank.test_id(kind integer, n integer) RETURNS uuid LANGUAGE sql IMMUTABLE SET search_path = ''
  AS $$ SELECT (pg_catalog.lpad(pg_catalog.to_hex(kind), 8, '0') || '-0000-4000-8000-' || pg_catalog.lpad(pg_catalog.to_hex(n), 12, '0'))::uuid $$;

-- Where the two customers stand, and by name whatever does not hold.
CREATE FUNCTION bank.test_look(one uuid, other uuid) RETURNS text
  LANGUAGE plpgsql SET search_path = ''
  AS $$
DECLARE
  pair_of uuid[] := ARRAY[one, other];
  wrong text[] := '{}';
BEGIN
  -- I1: the entries of a transfer sum to zero per currency, every leg included, and there are no entries of nothing.
  PERFORM 1 FROM bank.entry e WHERE e.customer_id = ANY (pair_of) GROUP BY e.customer_id, e.transfer_id, e.currency HAVING sum(e.amount_minor_units) <> 0;
  IF FOUND THEN wrong := wrong || 'I1 entries do not sum to zero'::text; END IF;
  -- I2: a balance is its opening and its entries.
  PERFORM 1 FROM bank.account_balance b WHERE b.customer_id = ANY (pair_of) AND b.balance_minor_units <> 120000
     + coalesce((SELECT sum(e.amount_minor_units) FROM bank.entry e WHERE e.customer_id = b.customer_id AND e.account_id = b.account_id), 0);
  IF FOUND THEN wrong := wrong || 'I2 a balance is not its opening and entries'::text; END IF;
  -- I3: each confirmed action has one execution, one receipt of its chain, and one transfer a line; each transfer the legs of its state.
  PERFORM 1 FROM bank.pending_action a WHERE a.customer_id = ANY (pair_of) AND ((a.state = 'confirmed')::integer, (a.state = 'confirmed')::integer) IS DISTINCT FROM (
      (SELECT count(*)::integer FROM bank.execution x WHERE x.customer_id = a.customer_id AND x.action_id = a.action_id),
      (SELECT count(*)::integer FROM bank.bank_event e WHERE e.customer_id = a.customer_id AND e.action_id = a.action_id AND e.kind = 'confirmed'));
  IF FOUND THEN wrong := wrong || 'I3 a confirmed action without exactly one execution and one receipt'::text; END IF;
  PERFORM 1 FROM bank.execution x WHERE x.customer_id = ANY (pair_of) AND (
      (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('n', l.line_number, 'm', l.amount_minor_units) ORDER BY l.line_number) FROM bank.pending_line l
        WHERE l.customer_id = x.customer_id AND l.action_id = x.action_id AND l.version = x.version)
      IS DISTINCT FROM
      (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('n', t.line_number, 'm', t.amount_minor_units) ORDER BY t.line_number) FROM bank.transfer t
        WHERE t.customer_id = x.customer_id AND t.action_id = x.action_id)
      OR (SELECT pg_catalog.jsonb_agg(l ->> 'transfer' ORDER BY l ->> 'transfer') FROM bank.bank_event e,
            pg_catalog.jsonb_array_elements(pg_catalog.convert_from(e.payload, 'UTF8')::jsonb -> 'lines') l
           WHERE e.customer_id = x.customer_id AND e.sequence = x.event_sequence)
      IS DISTINCT FROM
      (SELECT pg_catalog.jsonb_agg('trf_' || pg_catalog.replace(t.transfer_id::text, '-', '') ORDER BY t.transfer_id) FROM bank.transfer t
        WHERE t.customer_id = x.customer_id AND t.action_id = x.action_id));
  IF FOUND THEN wrong := wrong || 'I3 a receipt, its lines and its transfers are not the same'::text; END IF;
  PERFORM 1 FROM bank.transfer t WHERE t.customer_id = ANY (pair_of) AND
      (SELECT count(*) || ':' || coalesce(sum(e.amount_minor_units) FILTER (WHERE e.book = 'account'), 0) || ':' || coalesce(sum(e.amount_minor_units) FILTER (WHERE e.book = 'transit'), 0)
         FROM bank.entry e WHERE e.customer_id = t.customer_id AND e.transfer_id = t.transfer_id)
      <> CASE
        WHEN t.kind = 'payment_in' THEN '2:' || t.amount_minor_units || ':' || -t.amount_minor_units
        WHEN t.state = 'voided' THEN '4:0:0'
        WHEN t.state = 'posted' AND t.counterparty_iban NOT IN (SELECT d.iban FROM bank.account_directory d) THEN '4:' || -t.amount_minor_units || ':0'
        ELSE '2:' || -t.amount_minor_units || ':' || t.amount_minor_units END;
  IF FOUND THEN wrong := wrong || 'I3 a transfer has not the legs of its state'::text; END IF;
  PERFORM 1 FROM bank.transfer t WHERE t.customer_id = ANY (pair_of) AND t.kind = 'payment_out' AND t.state = 'posted'
      AND t.counterparty_iban IN (SELECT d.iban FROM bank.account_directory d)
      AND (SELECT count(*) FROM bank.transfer c WHERE c.origin_transfer_id = t.transfer_id AND c.amount_minor_units = t.amount_minor_units) <> 1;
  IF FOUND THEN wrong := wrong || 'I3 a posted transfer inside the bank was not credited once'::text; END IF;
  -- I4: what left on a day is what is counted, and within the limit.
  PERFORM 1 FROM (SELECT t.customer_id, (t.created_at AT TIME ZONE s.time_zone)::date AS day, sum(t.amount_minor_units) AS sent
        FROM bank.transfer t, bank.setting s WHERE t.customer_id = ANY (pair_of) AND t.kind = 'payment_out' AND t.state <> 'voided' GROUP BY 1, 2) d
    FULL JOIN (SELECT x.* FROM bank.spent_day x WHERE x.customer_id = ANY (pair_of)) s ON s.customer_id = d.customer_id AND s.day = d.day
   WHERE coalesce(d.sent, 0) <> coalesce(s.spent_minor_units, 0) OR d.sent > 100000;
  IF FOUND THEN wrong := wrong || 'I4 a day above its limit or miscounted'::text; END IF;
  -- I5: at most one open transfer action a conversation.
  PERFORM 1 FROM bank.pending_action a WHERE a.customer_id = ANY (pair_of) AND a.kind = 'transfer' AND a.state = 'pending'
    GROUP BY a.customer_id, a.conversation_id HAVING count(*) > 1;
  IF FOUND THEN wrong := wrong || 'I5 two open transfers in one conversation'::text; END IF;
  -- I6: every transfer is of a confirmed action whose record, hold and receipt have one H; or the leg that names one.
  PERFORM 1 FROM bank.transfer t WHERE t.customer_id = ANY (pair_of) AND NOT EXISTS (
      SELECT FROM bank.execution x JOIN bank.pending_action a USING (customer_id, action_id)
        JOIN bank.bank_event e ON e.customer_id = x.customer_id AND e.sequence = x.event_sequence AND e.kind = 'confirmed' AND e.action_id = x.action_id
       WHERE (x.customer_id, x.action_id) = (t.customer_id, t.action_id) AND a.state = 'confirmed'
         AND x.confirm_hash = pg_catalog.sha256('countersign/confirm/v1'::bytea || x.record)
         AND pg_catalog.convert_from(e.payload, 'UTF8')::jsonb ->> 'confirm_hash' = pg_catalog.encode(x.confirm_hash, 'hex')
         AND EXISTS (SELECT FROM bank.card_shown c WHERE c.customer_id = x.customer_id AND c.action_id = x.action_id AND c.version = x.version
               AND c.confirm_hash = x.confirm_hash AND c.consumed_at IS NOT NULL)
         AND NOT EXISTS (SELECT FROM bank.hold h WHERE (h.customer_id, h.action_id) = (x.customer_id, x.action_id) AND (h.confirm_hash, h.record) <> (x.confirm_hash, x.record)))
    AND NOT (t.kind = 'payment_in' AND EXISTS (SELECT FROM bank.transfer o WHERE o.customer_id = ANY (pair_of) AND o.transfer_id = t.origin_transfer_id
               AND o.amount_minor_units = t.amount_minor_units AND o.leaving_at IS NOT NULL AND o.state <> 'voided'));
  IF FOUND THEN wrong := wrong || 'I6 a transfer without a confirmed action of equal H'::text; END IF;
  -- I7: a customer's chain has no gap and every link holds.
  PERFORM 1 FROM (SELECT e.*, pg_catalog.row_number() OVER w AS place, pg_catalog.lag(e.chain_hash) OVER w AS before FROM bank.bank_event e
        WHERE e.customer_id = ANY (pair_of) WINDOW w AS (PARTITION BY e.customer_id ORDER BY e.sequence)) c
    JOIN bank.event_head h ON h.customer_id = c.customer_id
   WHERE c.sequence <> c.place OR c.leaf_hash <> pg_catalog.sha256('\x00'::bytea || c.payload)
      OR c.chain_hash <> pg_catalog.sha256(coalesce(c.before, pg_catalog.decode(pg_catalog.repeat('00', 32), 'hex')) || c.leaf_hash)
      OR c.sequence > h.sequence OR (c.sequence = h.sequence AND c.chain_hash <> h.chain_hash);
  IF FOUND THEN wrong := wrong || 'I7 a chain with a gap or a broken link'::text; END IF;
  -- I8: money is neither made nor lost: accounts, on its way, and handed to the outside.
  IF (SELECT sum(b.balance_minor_units) FROM bank.account_balance b WHERE b.customer_id = ANY (pair_of))
     + (SELECT coalesce(sum(e.amount_minor_units), 0) FROM bank.entry e WHERE e.customer_id = ANY (pair_of) AND e.book <> 'account') <> 240000 THEN
    wrong := wrong || 'I8 the sum of all money changed'::text;
  END IF;
  RETURN pg_catalog.jsonb_build_object(
    'wrong', wrong,
    'edges', (SELECT coalesce(pg_catalog.jsonb_agg(DISTINCT pg_catalog.jsonb_build_array(g.what, g.old_state, g.new_state)), '[]') FROM bank.test_edge g
       WHERE g.customer_id = ANY (pair_of)),
    'balances', (SELECT pg_catalog.jsonb_object_agg(b.customer_id, b.balance_minor_units) FROM bank.account_balance b WHERE b.customer_id = ANY (pair_of)),
    'spent', (SELECT pg_catalog.jsonb_object_agg(w, coalesce((SELECT s.spent_minor_units FROM bank.spent_day s WHERE s.customer_id = w AND s.day = bank.bank_day()), 0))
       FROM pg_catalog.unnest(pair_of) w),
    'frozen', (SELECT pg_catalog.jsonb_object_agg(w, EXISTS (SELECT FROM bank.payment_freeze f WHERE f.customer_id = w AND f.lifted_at IS NULL))
       FROM pg_catalog.unnest(pair_of) w),
    'actions', (SELECT coalesce(pg_catalog.jsonb_object_agg(a.action_id, pg_catalog.jsonb_build_object('state', a.state, 'version', a.current_version,
         'undone', EXISTS (SELECT FROM bank.undo u WHERE u.customer_id = a.customer_id AND u.action_id = a.action_id),
         'transfers', (SELECT coalesce(pg_catalog.jsonb_agg(t.state ORDER BY t.line_number), '[]') FROM bank.transfer t WHERE t.customer_id = a.customer_id AND t.action_id = a.action_id))),
       '{}') FROM bank.pending_action a WHERE a.customer_id = ANY (pair_of)))::text;
END
$$;
