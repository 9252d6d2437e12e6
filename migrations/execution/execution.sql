-- The execution path: the only statements that move money or make a confirmed request take effect.
--
-- One file of its own, applied after the migrations and again whenever it changes. Every function here is owned by cs_executor, which
-- nobody can log in as. `confirm_action` is for `panel` alone; the loops of the panel have the functions their work needs and no other.

-- A small event in RFC 8785 form: three members in order, values without a character that needs escaping.
CREATE OR REPLACE FUNCTION bank.plain_event(event_kind text, event_action uuid, about uuid) RETURNS bytea
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
BEGIN
  RETURN pg_catalog.convert_to(pg_catalog.format('{"about":"%s","action":"%s","at":"%s","event":"%s"}',
    pg_catalog.replace(about::text, '-', ''), 'act_' || pg_catalog.replace(event_action::text, '-', ''),
    pg_catalog.to_char(bank.bank_clock() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), event_kind), 'UTF8');
END
$$;

-- Ends a pending action with a reason the customer reads. The caller holds the customer's lock.
CREATE OR REPLACE FUNCTION bank.end_action(who uuid, which uuid, new_state text, why text) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
BEGIN
  UPDATE bank.pending_action SET state = new_state, reason = why WHERE customer_id = who AND action_id = which;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such action' USING ERRCODE = 'CS002';
  END IF;
  PERFORM bank.append_event_for(who, new_state, which, bank.plain_event(new_state, which, which));
  -- Whoever agreed and waits is told that nothing came of it.
  PERFORM bank.notify(who, 'not_sent', bank.shown_in(h.record, 'button'), which, bank.short_code_of(h.executed_hash))
     FROM bank.hold h WHERE h.customer_id = who AND h.action_id = which;
END
$$;

-- Takes money from one account of the customer into transit. Answers a code, or NULL when it did.
CREATE OR REPLACE FUNCTION bank.debit_account(who uuid, account uuid, amount bigint) RETURNS text
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
BEGIN
  UPDATE bank.account_balance SET balance_minor_units = balance_minor_units - amount
   WHERE customer_id = who AND account_id = account AND balance_minor_units >= amount;
  IF NOT FOUND THEN
    RETURN 'insufficient_funds';
  END IF;
  RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION bank.credit_account(who uuid, account uuid, amount bigint) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
BEGIN
  UPDATE bank.account_balance SET balance_minor_units = balance_minor_units + amount
   WHERE customer_id = who AND account_id = account;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no balance row' USING ERRCODE = 'CS002';
  END IF;
END
$$;

-- Whether the payments of a version are within the customer's limits and can be made. Answers a code, or NULL for yes.
-- Own accounts are the customer's: a move between them is bounded by the funds alone.
CREATE OR REPLACE FUNCTION bank.check_payments(who uuid, act bank.pending_action, v bank.pending_version) RETURNS text
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
DECLARE
  limits bank.customer_limit;
  line bank.pending_line;
  source bank.account;
  inside bank.account_directory;
  payee_iban text;
  lines integer := 0;
  outgoing bigint := 0;
  spent bigint;
  -- Whoever was first paid after this is still new.
  known_since timestamptz := bank.bank_clock() - (SELECT s.new_payee_seconds FROM bank.setting s) * interval '1 second';
  -- What went to new payees and what would with this; nothing before the first of them.
  first numeric;
BEGIN
  IF v.from_account_id IS NULL OR v.currency IS NULL THEN
    RETURN 'incomplete';
  END IF;
  SELECT * INTO source FROM bank.account a WHERE a.customer_id = who AND a.account_id = v.from_account_id;
  IF NOT FOUND OR source.currency IS DISTINCT FROM v.currency THEN
    RETURN 'currency_mismatch';
  END IF;
  SELECT * INTO limits FROM bank.customer_limit l WHERE l.customer_id = who AND l.currency = v.currency;
  IF NOT FOUND THEN
    RETURN 'limit_per_transfer';
  END IF;
  FOR line IN SELECT * FROM bank.pending_line p
    WHERE p.customer_id = who AND p.action_id = act.action_id AND p.version = v.version ORDER BY p.line_number LOOP
    lines := lines + 1;
    IF line.amount_minor_units IS NULL THEN
      RETURN 'incomplete';
    END IF;
    IF line.own_account_id IS NOT NULL THEN
      IF act.kind <> 'transfer' OR line.own_account_id = v.from_account_id THEN
        RETURN 'not_possible_now';
      END IF;
      PERFORM 1 FROM bank.account a WHERE a.customer_id = who AND a.account_id = line.own_account_id AND a.currency = v.currency;
      IF NOT FOUND THEN
        RETURN 'currency_mismatch';
      END IF;
      CONTINUE;
    END IF;
    IF act.kind = 'refund' THEN
      SELECT t.counterparty_iban INTO payee_iban FROM bank.transfer t
       WHERE t.customer_id = who AND t.transfer_id = v.transaction_id AND t.kind = 'payment_in' AND t.state = 'posted'
         AND t.currency = v.currency AND t.amount_minor_units = line.amount_minor_units
         AND NOT EXISTS (SELECT FROM bank.transfer r WHERE r.customer_id = who AND r.refunds_transfer_id = t.transfer_id AND r.state <> 'voided');
    ELSE
      SELECT p.iban INTO payee_iban FROM bank.payee p WHERE p.customer_id = who AND p.payee_id = line.payee_id;
      -- Everything that goes to payees while they are new is one first payment: many of them at once do not multiply it.
      IF NOT EXISTS (SELECT FROM bank.payee_paid p WHERE p.customer_id = who AND p.payee_id = line.payee_id AND p.first_paid_at <= known_since) THEN
        IF first IS NULL THEN
          SELECT coalesce(sum(t.amount_minor_units), 0) INTO first FROM bank.payee_paid p
            JOIN bank.transfer t ON t.customer_id = p.customer_id AND t.payee_id = p.payee_id AND t.currency = v.currency AND t.state <> 'voided'
             AND t.created_at >= known_since
           WHERE p.customer_id = who AND p.first_paid_at > known_since;
        END IF;
        first := first + line.amount_minor_units;
        IF first > limits.first_payment_minor_units THEN
          RETURN 'limit_first_payment';
        END IF;
      END IF;
    END IF;
    IF payee_iban IS NULL THEN
      RETURN CASE WHEN act.kind = 'refund' THEN 'not_possible_now' ELSE 'incomplete' END;
    END IF;
    SELECT * INTO inside FROM bank.account_directory d WHERE d.iban = payee_iban;
    IF FOUND THEN
      IF inside.customer_id = who THEN
        RETURN 'not_possible_now';
      END IF;
      PERFORM 1 FROM bank.account a WHERE a.customer_id = inside.customer_id AND a.account_id = inside.account_id AND a.currency = v.currency;
      IF NOT FOUND THEN
        RETURN 'currency_mismatch';
      END IF;
    END IF;
    IF line.amount_minor_units > limits.per_transfer_minor_units THEN
      RETURN 'limit_per_transfer';
    END IF;
    outgoing := outgoing + line.amount_minor_units;
    payee_iban := NULL;
  END LOOP;
  IF lines = 0 THEN
    RETURN 'incomplete';
  END IF;
  IF act.kind IN ('transfer', 'refund') THEN
    SELECT coalesce((SELECT s.spent_minor_units FROM bank.spent_day s
      WHERE s.customer_id = who AND s.currency = v.currency AND s.day = bank.bank_day()), 0) INTO spent;
    IF spent + outgoing > limits.per_day_minor_units THEN
      RETURN 'limit_per_day';
    END IF;
  END IF;
  RETURN NULL;
END
$$;

-- Writes the transfers of a version: the payer's side of each line, account to transit. The poster does the rest.
CREATE OR REPLACE FUNCTION bank.make_transfers(who uuid, act bank.pending_action, v bank.pending_version, transfer_ids uuid[]) RETURNS text
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
DECLARE
  line bank.pending_line;
  position integer := 0;
  outgoing bigint := 0;
  refusal text;
  to_name text;
  to_iban text;
  -- One moment for the whole action, read after the lock: its day, and the end of the time to undo.
  moment timestamptz := bank.bank_clock();
  today date := (moment AT TIME ZONE (SELECT s.time_zone FROM bank.setting s))::date;
  leaves timestamptz := moment + bank.undo_seconds_of(who) * interval '1 second';
BEGIN
  FOR line IN SELECT * FROM bank.pending_line p
    WHERE p.customer_id = who AND p.action_id = act.action_id AND p.version = v.version ORDER BY p.line_number LOOP
    position := position + 1;
    refusal := bank.debit_account(who, v.from_account_id, line.amount_minor_units);
    IF refusal IS NOT NULL THEN
      RETURN refusal;
    END IF;
    IF line.own_account_id IS NOT NULL THEN
      INSERT INTO bank.transfer (customer_id, transfer_id, account_id, kind, state, amount_minor_units, currency, counterparty_name,
        counterparty_iban, category, action_id, line_number, posted_at)
      SELECT who, transfer_ids[position], v.from_account_id, 'own_out', 'posted', line.amount_minor_units, v.currency, a.label, a.iban,
        'own accounts', act.action_id, line.line_number, bank.bank_clock()
        FROM bank.account a WHERE a.customer_id = who AND a.account_id = line.own_account_id;
      INSERT INTO bank.transfer (customer_id, transfer_id, account_id, kind, state, amount_minor_units, currency, counterparty_name,
        counterparty_iban, category, origin_transfer_id, posted_at)
      SELECT who, pg_catalog.gen_random_uuid(), line.own_account_id, 'own_in', 'posted', line.amount_minor_units, v.currency, a.label, a.iban,
        'own accounts', transfer_ids[position], bank.bank_clock()
        FROM bank.account a WHERE a.customer_id = who AND a.account_id = v.from_account_id;
      INSERT INTO bank.entry (customer_id, transfer_id, leg, book, account_id, amount_minor_units, currency) VALUES
        (who, transfer_ids[position], 1, 'account', v.from_account_id, -line.amount_minor_units, v.currency),
        (who, transfer_ids[position], 2, 'transit', NULL, line.amount_minor_units, v.currency);
      INSERT INTO bank.entry (customer_id, transfer_id, leg, book, account_id, amount_minor_units, currency)
      SELECT who, t.transfer_id, legs.leg, legs.book, legs.account_id, legs.amount, v.currency
        FROM bank.transfer t, (VALUES (1::smallint, 'transit', NULL::uuid, -line.amount_minor_units),
                                      (2::smallint, 'account', line.own_account_id, line.amount_minor_units)) AS legs (leg, book, account_id, amount)
       WHERE t.customer_id = who AND t.origin_transfer_id = transfer_ids[position];
      PERFORM bank.credit_account(who, line.own_account_id, line.amount_minor_units);
      CONTINUE;
    END IF;
    IF act.kind = 'refund' THEN
      SELECT t.counterparty_name, t.counterparty_iban INTO STRICT to_name, to_iban FROM bank.transfer t
       WHERE t.customer_id = who AND t.transfer_id = v.transaction_id;
    ELSE
      SELECT p.name, p.iban INTO STRICT to_name, to_iban FROM bank.payee p WHERE p.customer_id = who AND p.payee_id = line.payee_id;
    END IF;
    INSERT INTO bank.transfer (customer_id, transfer_id, account_id, kind, state, amount_minor_units, currency, counterparty_name,
      counterparty_iban, category, payee_id, action_id, line_number, refunds_transfer_id, created_at, post_after)
    VALUES (who, transfer_ids[position], v.from_account_id, CASE WHEN act.kind = 'refund' THEN 'refund_out' ELSE 'payment_out' END,
      'reserved', line.amount_minor_units, v.currency, to_name, to_iban, CASE WHEN act.kind = 'refund' THEN 'refunds' ELSE 'payments' END,
      line.payee_id, act.action_id, line.line_number, CASE WHEN act.kind = 'refund' THEN v.transaction_id END, moment, leaves);
    INSERT INTO bank.entry (customer_id, transfer_id, leg, book, account_id, amount_minor_units, currency) VALUES
      (who, transfer_ids[position], 1, 'account', v.from_account_id, -line.amount_minor_units, v.currency),
      (who, transfer_ids[position], 2, 'transit', NULL, line.amount_minor_units, v.currency);
    IF line.payee_id IS NOT NULL THEN
      INSERT INTO bank.payee_paid (customer_id, payee_id, first_paid_at, payments_count)
      VALUES (who, line.payee_id, moment, 1)
      ON CONFLICT (customer_id, payee_id) DO UPDATE SET payments_count = bank.payee_paid.payments_count + 1;
    END IF;
    outgoing := outgoing + line.amount_minor_units;
  END LOOP;
  IF outgoing > 0 THEN
    INSERT INTO bank.spent_day (customer_id, currency, day, spent_minor_units) VALUES (who, v.currency, today, outgoing)
    ON CONFLICT (customer_id, currency, day) DO UPDATE SET spent_minor_units = bank.spent_day.spent_minor_units + outgoing;
  END IF;
  RETURN NULL;
END
$$;

-- Makes an action other than a payment take effect. Answers a code, or NULL when it did.
CREATE OR REPLACE FUNCTION bank.make_effect(who uuid, act bank.pending_action, v bank.pending_version, new_id uuid) RETURNS text
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
DECLARE
  line bank.pending_line;
BEGIN
  SELECT * INTO line FROM bank.pending_line p
   WHERE p.customer_id = who AND p.action_id = act.action_id AND p.version = v.version AND p.line_number = 1;
  CASE act.kind
  WHEN 'card_freeze' THEN
    IF v.card_id IS NULL THEN RETURN 'incomplete'; END IF;
    UPDATE bank.card SET state = 'frozen' WHERE customer_id = who AND card_id = v.card_id AND state = 'active';
  WHEN 'card_unfreeze' THEN
    IF v.card_id IS NULL THEN RETURN 'incomplete'; END IF;
    UPDATE bank.card SET state = 'active' WHERE customer_id = who AND card_id = v.card_id AND state = 'frozen';
  WHEN 'standing_order_create' THEN
    IF v.from_account_id IS NULL OR v.frequency IS NULL OR v.start_date IS NULL OR line.payee_id IS NULL OR line.amount_minor_units IS NULL THEN
      RETURN 'incomplete';
    END IF;
    IF v.start_date < bank.bank_day() THEN RETURN 'not_possible_now'; END IF;
    INSERT INTO bank.standing_order (customer_id, order_id, account_id, payee_id, amount_minor_units, currency, frequency, start_date)
    VALUES (who, new_id, v.from_account_id, line.payee_id, line.amount_minor_units, v.currency, v.frequency, v.start_date);
  WHEN 'standing_order_change' THEN
    IF v.order_id IS NULL THEN RETURN 'incomplete'; END IF;
    IF line.amount_minor_units IS NULL AND v.frequency IS NULL AND v.start_date IS NULL THEN RETURN 'incomplete'; END IF;
    UPDATE bank.standing_order SET amount_minor_units = coalesce(line.amount_minor_units, amount_minor_units),
      frequency = coalesce(v.frequency, frequency), start_date = coalesce(v.start_date, start_date)
     WHERE customer_id = who AND order_id = v.order_id AND state = 'active' AND (v.currency IS NULL OR currency = v.currency);
  WHEN 'standing_order_cancel' THEN
    IF v.order_id IS NULL THEN RETURN 'incomplete'; END IF;
    UPDATE bank.standing_order SET state = 'ended' WHERE customer_id = who AND order_id = v.order_id AND state = 'active';
  WHEN 'dispute' THEN
    IF v.transaction_id IS NULL OR v.dispute_reason IS NULL THEN RETURN 'incomplete'; END IF;
    INSERT INTO bank.dispute (customer_id, dispute_id, transfer_id, reason, details, action_id)
    SELECT who, new_id, t.transfer_id, v.dispute_reason, coalesce(v.typed ->> 'details', ''), act.action_id
      FROM bank.transfer t WHERE t.customer_id = who AND t.transfer_id = v.transaction_id
       AND NOT EXISTS (SELECT FROM bank.dispute d WHERE d.customer_id = who AND d.transfer_id = t.transfer_id);
  WHEN 'payee' THEN
    IF coalesce(v.typed ->> 'payee_name', '') = '' OR coalesce(v.typed ->> 'payee_iban', '') = '' THEN RETURN 'incomplete'; END IF;
    INSERT INTO bank.payee (customer_id, payee_id, name, iban)
    SELECT who, new_id, v.typed ->> 'payee_name', v.typed ->> 'payee_iban'
     WHERE NOT EXISTS (SELECT FROM bank.payee p WHERE p.customer_id = who AND p.iban = v.typed ->> 'payee_iban');
  WHEN 'limit_change' THEN
    RETURN bank.begin_cooling(who, act, v);
  WHEN 'profile_change' THEN
    IF v.profile_field IS NULL OR coalesce(v.typed ->> 'value', '') = '' THEN RETURN 'incomplete'; END IF;
    -- Told to the old address; what tells of the Confirm goes to the new one.
    PERFORM bank.notify(who, 'changed', 'Your ' || CASE v.profile_field WHEN 'email' THEN 'e-mail address' WHEN 'phone' THEN 'phone number'
      ELSE v.profile_field END, act.action_id, '');
    INSERT INTO bank.profile (customer_id) VALUES (who) ON CONFLICT (customer_id) DO NOTHING;
    UPDATE bank.profile SET
      address = CASE WHEN v.profile_field = 'address' THEN v.typed ->> 'value' ELSE address END,
      phone = CASE WHEN v.profile_field = 'phone' THEN v.typed ->> 'value' ELSE phone END,
      email = CASE WHEN v.profile_field = 'email' THEN v.typed ->> 'value' ELSE email END
     WHERE customer_id = who;
  ELSE
    RAISE EXCEPTION 'no effect is known for this kind' USING ERRCODE = 'CS004';
  END CASE;
  IF NOT FOUND THEN
    RETURN 'not_possible_now';
  END IF;
  RETURN NULL;
END
$$;

-- Makes a version take effect, wholly or not at all. Answers a code, or NULL when it did.
CREATE OR REPLACE FUNCTION bank.take_effect(who uuid, act bank.pending_action, v bank.pending_version, new_ids uuid[]) RETURNS text
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
DECLARE
  refusal text;
BEGIN
  -- The effect is undone as a whole when it cannot be made whole; what stays is the refusal and its event.
  BEGIN
    IF act.kind IN ('transfer', 'refund') THEN
      refusal := bank.make_transfers(who, act, v, new_ids);
    ELSE
      refusal := bank.make_effect(who, act, v, new_ids[1]);
    END IF;
    IF refusal IS NOT NULL THEN
      RAISE EXCEPTION 'undo the effect' USING ERRCODE = 'CS099';
    END IF;
  EXCEPTION WHEN SQLSTATE 'CS099' THEN
    NULL;
  END;
  RETURN refusal;
END
$$;

-- Marks an action confirmed and executed, with the event that records it.
CREATE OR REPLACE FUNCTION bank.record_execution(who uuid, act bank.pending_action, p_version integer, p_confirm_hash bytea,
  p_executed_hash bytea, p_note text, p_record bytea, p_event bytea) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
DECLARE
  event_number bigint;
BEGIN
  UPDATE bank.pending_action SET state = 'confirmed', consumed_through = CASE WHEN act.state = 'held' THEN act.consumed_through ELSE (
      SELECT max(u.sequence) FROM bank.utterance u WHERE u.customer_id = who AND u.conversation_id = act.conversation_id) END
   WHERE customer_id = who AND action_id = act.action_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such action' USING ERRCODE = 'CS002';
  END IF;
  event_number := bank.append_event_for(who, 'confirmed', act.action_id, p_event);
  INSERT INTO bank.execution (customer_id, action_id, version, confirm_hash, executed_hash, note, record, event_sequence)
  VALUES (who, act.action_id, p_version, p_confirm_hash, p_executed_hash, p_note, p_record, event_number);
  PERFORM bank.notify(who, 'confirmed', bank.shown_in(p_record, 'button'), act.action_id, bank.short_code_of(p_executed_hash));
END
$$;

-- Keeps what the customer confirmed until the bank does it, ends it, or the customer cancels it.
CREATE OR REPLACE FUNCTION bank.hold_action(who uuid, act bank.pending_action, p_version integer, why text, p_confirm_hash bytea,
  p_executed_hash bytea, p_note text, p_record bytea, p_event bytea) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
DECLARE
  moment timestamptz := bank.bank_clock();
  setting bank.setting;
  event_number bigint;
BEGIN
  SELECT * INTO STRICT setting FROM bank.setting;
  UPDATE bank.pending_action SET state = 'held', reason = why, consumed_through = (
      SELECT max(u.sequence) FROM bank.utterance u WHERE u.customer_id = who AND u.conversation_id = act.conversation_id)
   WHERE customer_id = who AND action_id = act.action_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such action' USING ERRCODE = 'CS002';
  END IF;
  event_number := bank.append_event_for(who, 'held', act.action_id, p_event);
  INSERT INTO bank.hold (customer_id, action_id, version, reason, confirm_hash, executed_hash, note, record, held_at, release_after, ends_at, event_sequence)
  VALUES (who, act.action_id, p_version, why, p_confirm_hash, p_executed_hash, p_note, p_record, moment,
    CASE WHEN why IN ('name_no_match', 'cooling_off') THEN moment + setting.cooling_off_seconds * interval '1 second' END,
    moment + setting.hold_seconds_max * interval '1 second', event_number);
  PERFORM bank.notify(who, 'held', bank.shown_in(p_record, 'button'), act.action_id, bank.short_code_of(p_executed_hash));
END
$$;

-- Confirms an action. The panel has rebuilt the record under the lock and compared its hash; this function checks everything
-- that the database itself knows, and does it: state, version, the one-time showing, the clock after the lock, limits, funds.
--
-- With `p_hold` the bank waits: the action is held with its reason and deadlines, and nothing moves yet. `p_event` then says so.
--
-- Answers: executed, held, already_executed, already_held, not_found, not_open, stale_card, frozen, expired, step_up_due,
-- step_up_frozen, or the code of the rule that refused. Only executed, held, expired and a refusal by a rule change anything.
DROP FUNCTION IF EXISTS bank.confirm_action(uuid, integer, text, bytea, bytea, text, bytea, uuid[], bytea);
CREATE OR REPLACE FUNCTION bank.confirm_action(
  p_action uuid, p_version integer, p_nonce text, p_confirm_hash bytea, p_executed_hash bytea, p_note text, p_record bytea,
  p_new_ids uuid[], p_event bytea, p_hold text DEFAULT NULL) RETURNS text
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  who uuid := bank.lock_customer();
  act bank.pending_action;
  v bank.pending_version;
  done bank.execution;
  refusal text;
BEGIN
  SELECT * INTO act FROM bank.pending_action a WHERE a.customer_id = who AND a.action_id = p_action;
  IF NOT FOUND THEN
    RETURN 'not_found';
  END IF;
  SELECT * INTO done FROM bank.execution e WHERE e.customer_id = who AND e.action_id = p_action;
  IF FOUND THEN
    RETURN CASE WHEN done.confirm_hash = p_confirm_hash THEN 'already_executed' ELSE 'not_open' END;
  END IF;
  IF act.state = 'held' THEN
    PERFORM 1 FROM bank.hold h WHERE h.customer_id = who AND h.action_id = p_action AND h.confirm_hash = p_confirm_hash;
    RETURN CASE WHEN FOUND THEN 'already_held' ELSE 'not_open' END;
  END IF;
  IF act.state <> 'pending' THEN
    RETURN 'not_open';
  END IF;
  IF act.expires_at <= bank.bank_clock() THEN
    PERFORM bank.end_action(who, p_action, 'expired', 'expired');
    RETURN 'expired';
  END IF;
  IF act.current_version <> p_version THEN
    RETURN 'stale_card';
  END IF;
  IF bank.is_frozen(who) AND NOT bank.may_while_frozen(act.kind) THEN
    RETURN 'frozen';
  END IF;
  SELECT * INTO STRICT v FROM bank.pending_version x WHERE x.customer_id = who AND x.action_id = p_action AND x.version = p_version;
  -- Whoever calls: without the passkey that is due, the showing is not even used up.
  refusal := bank.use_step_up(who, act, v, p_confirm_hash, p_nonce, p_note, p_record);
  IF refusal IN ('stale_card', 'step_up_due', 'step_up_frozen') THEN
    RETURN refusal;
  END IF;
  UPDATE bank.card_shown c SET consumed_at = bank.bank_clock()
   WHERE c.customer_id = who AND c.nonce_hash = pg_catalog.sha256(pg_catalog.convert_to(p_nonce, 'UTF8'))
     AND c.action_id = p_action AND c.version = p_version AND c.confirm_hash = p_confirm_hash
     AND c.panel_grant_id = (SELECT bank.current_grant()) AND c.consumed_at IS NULL;
  IF NOT FOUND THEN
    RETURN 'stale_card';
  END IF;

  IF refusal IS NULL AND act.kind IN ('transfer', 'refund', 'standing_order_create') THEN
    refusal := bank.check_payments(who, act, v);
  END IF;
  IF refusal IS NULL AND p_hold IS NOT NULL THEN
    PERFORM bank.hold_action(who, act, p_version, p_hold, p_confirm_hash, p_executed_hash, p_note, p_record, p_event);
    RETURN 'held';
  END IF;
  IF refusal IS NULL THEN
    refusal := bank.take_effect(who, act, v, p_new_ids);
  END IF;
  IF refusal = 'incomplete' THEN
    RAISE EXCEPTION 'the card was not complete' USING ERRCODE = 'CS005';
  END IF;
  IF refusal IS NOT NULL THEN
    PERFORM bank.end_action(who, p_action, 'refused', refusal);
    RETURN refusal;
  END IF;
  PERFORM bank.record_execution(who, act, p_version, p_confirm_hash, p_executed_hash, p_note, p_record, p_event);
  RETURN 'executed';
END
$$;

-- Voids what an action has reserved, as long as nothing of it has left: the money goes back to its account, the day's and the
-- payee's counters with it, and the event says so. Moves between own accounts stay. The caller holds the customer's lock.
--
-- Answers undone, already_undone, too_late, nothing_to_undo or not_found. Only undone changes anything.
CREATE OR REPLACE FUNCTION bank.void_action(who uuid, which uuid, by_what text) RETURNS text
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
DECLARE
  done bank.execution;
  paid bank.transfer;
  -- After the lock: whoever waited for it past the end is late.
  moment timestamptz := bank.bank_clock();
  voided uuid[] := '{}';
  event_number bigint;
BEGIN
  SELECT * INTO done FROM bank.execution e WHERE e.customer_id = who AND e.action_id = which;
  IF NOT FOUND THEN
    RETURN 'not_found';
  END IF;
  PERFORM 1 FROM bank.undo u WHERE u.customer_id = who AND u.action_id = which;
  IF FOUND THEN
    RETURN 'already_undone';
  END IF;
  PERFORM 1 FROM bank.transfer t WHERE t.customer_id = who AND t.action_id = which AND t.kind IN ('payment_out', 'refund_out')
    AND (t.state <> 'reserved' OR t.leaving_at IS NOT NULL OR t.post_after <= moment);
  IF FOUND THEN
    RETURN 'too_late';
  END IF;
  FOR paid IN SELECT * FROM bank.transfer t
    WHERE t.customer_id = who AND t.action_id = which AND t.kind IN ('payment_out', 'refund_out') ORDER BY t.line_number LOOP
    UPDATE bank.transfer SET state = 'voided', voided_at = moment WHERE customer_id = who AND transfer_id = paid.transfer_id;
    INSERT INTO bank.entry (customer_id, transfer_id, leg, book, account_id, amount_minor_units, currency) VALUES
      (who, paid.transfer_id, 3, 'transit', NULL, -paid.amount_minor_units, paid.currency),
      (who, paid.transfer_id, 4, 'account', paid.account_id, paid.amount_minor_units, paid.currency);
    PERFORM bank.credit_account(who, paid.account_id, paid.amount_minor_units);
    UPDATE bank.spent_day SET spent_minor_units = spent_minor_units - paid.amount_minor_units
     WHERE customer_id = who AND currency = paid.currency
       AND day = (paid.created_at AT TIME ZONE (SELECT s.time_zone FROM bank.setting s))::date;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'no counter of the day' USING ERRCODE = 'CS002';
    END IF;
    IF paid.payee_id IS NOT NULL THEN
      PERFORM bank.unpay_payee(who, paid.payee_id, paid.created_at);
    END IF;
    voided := voided || paid.transfer_id;
  END LOOP;
  IF voided = '{}' THEN
    RETURN 'nothing_to_undo';
  END IF;
  event_number := bank.append_event_for(who, 'undone', which, bank.undone_event(who, done, voided, by_what, moment));
  INSERT INTO bank.undo (customer_id, action_id, undone_at, how, event_sequence) VALUES (who, which, moment, by_what, event_number);
  PERFORM bank.notify(who, 'undone', bank.shown_in(done.record, 'button'), which, bank.short_code_of(done.executed_hash));
  RETURN 'undone';
END
$$;

-- Takes a payment back from what makes a payee known: who was only paid what is undone was never paid.
CREATE OR REPLACE FUNCTION bank.unpay_payee(who uuid, payee uuid, paid_at timestamptz) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
DECLARE
  known bank.payee_paid;
BEGIN
  SELECT * INTO known FROM bank.payee_paid p WHERE p.customer_id = who AND p.payee_id = payee;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no counter of the payee' USING ERRCODE = 'CS002';
  END IF;
  IF known.payments_count = 1 THEN
    DELETE FROM bank.payee_paid WHERE customer_id = who AND payee_id = payee;
    RETURN;
  END IF;
  UPDATE bank.payee_paid SET payments_count = payments_count - 1,
    first_paid_at = CASE WHEN known.first_paid_at = paid_at
      THEN coalesce((SELECT min(t.created_at) FROM bank.transfer t WHERE t.customer_id = who AND t.payee_id = payee AND t.state <> 'voided'), known.first_paid_at)
      ELSE known.first_paid_at END
   WHERE customer_id = who AND payee_id = payee;
END
$$;

-- The payload of an undo, in RFC 8785 form: what was confirmed, which of its transfers are void, when.
CREATE OR REPLACE FUNCTION bank.undone_event(who uuid, done bank.execution, voided uuid[], by_what text, moment timestamptz) RETURNS bytea
  LANGUAGE plpgsql VOLATILE SET search_path = ''
  AS $$
BEGIN
  RETURN pg_catalog.convert_to(pg_catalog.format(
    '{"action":"%s","action_version":%s,"at":"%s","by":"%s","confirm_hash":"%s","customer":"%s","event":"undone","executed_hash":"%s","transfers":[%s]}',
    'act_' || pg_catalog.replace(done.action_id::text, '-', ''), done.version,
    pg_catalog.to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), by_what,
    pg_catalog.encode(done.confirm_hash, 'hex'), 'cus_' || pg_catalog.replace(who::text, '-', ''), pg_catalog.encode(done.executed_hash, 'hex'),
    (SELECT pg_catalog.string_agg('"trf_' || pg_catalog.replace(id::text, '-', '') || '"', ',' ORDER BY place)
       FROM pg_catalog.unnest(voided) WITH ORDINALITY AS each (id, place))), 'UTF8');
END
$$;

-- Undo, by the customer of the session. The same again is the same answer.
CREATE OR REPLACE FUNCTION bank.undo_action(p_action uuid) RETURNS text
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  RETURN bank.void_action(bank.lock_customer(), p_action, 'undo');
END
$$;

-- Runs what was held, exactly as it was confirmed. The panel has looked whether its values and rules are unchanged (`p_refusal` says
-- what is not) and whether what it waited for has come (`p_met`); the database checks everything else again, by its own clock.
--
-- Answers executed, not_held, not_yet, expired, or the code for which it was cancelled.
CREATE OR REPLACE FUNCTION bank.release_hold(p_action uuid, p_confirm_hash bytea, p_met boolean, p_refusal text, p_new_ids uuid[], p_event bytea) RETURNS text
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  who uuid := bank.lock_customer();
  act bank.pending_action;
  kept bank.hold;
  v bank.pending_version;
  refusal text := p_refusal;
BEGIN
  SELECT * INTO act FROM bank.pending_action a WHERE a.customer_id = who AND a.action_id = p_action AND a.state = 'held';
  IF NOT FOUND THEN
    RETURN 'not_held';
  END IF;
  SELECT * INTO STRICT kept FROM bank.hold h WHERE h.customer_id = who AND h.action_id = p_action;
  IF kept.ends_at <= bank.bank_clock() THEN
    PERFORM bank.end_action(who, p_action, 'expired', 'hold_expired');
    RETURN 'expired';
  END IF;
  IF kept.confirm_hash <> p_confirm_hash THEN
    RETURN 'not_held';
  END IF;
  IF NOT (coalesce(kept.release_after <= bank.bank_clock(), false) OR kept.allowed_at IS NOT NULL
       OR (kept.reason = 'name_unavailable' AND (p_met OR p_refusal IS NOT NULL))) THEN
    RETURN 'not_yet';
  END IF;
  SELECT * INTO STRICT v FROM bank.pending_version x WHERE x.customer_id = who AND x.action_id = p_action AND x.version = kept.version;
  IF refusal IS NULL AND act.current_version <> kept.version THEN
    refusal := 'changed';
  END IF;
  IF bank.is_frozen(who) THEN
    refusal := 'frozen';
  END IF;
  IF refusal IS NULL AND act.kind IN ('transfer', 'refund', 'standing_order_create') THEN
    refusal := bank.check_payments(who, act, v);
  END IF;
  IF refusal IS NULL THEN
    refusal := bank.take_effect(who, act, v, p_new_ids);
  END IF;
  IF refusal IS NOT NULL THEN
    PERFORM bank.end_action(who, p_action, 'cancelled', refusal);
    RETURN refusal;
  END IF;
  PERFORM bank.record_execution(who, act, kept.version, kept.confirm_hash, kept.executed_hash, kept.note, kept.record, p_event);
  RETURN 'executed';
END
$$;

-- Holds whose time has come, or that an operator allowed, oldest first.
CREATE OR REPLACE FUNCTION bank.due_holds(most integer) RETURNS TABLE (customer_id uuid, action_id uuid)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  RETURN QUERY SELECT h.customer_id, h.action_id FROM bank.hold h
    JOIN bank.pending_action a ON a.customer_id = h.customer_id AND a.action_id = h.action_id AND a.state = 'held'
   WHERE h.ends_at > bank.bank_clock()
     AND (h.release_after <= bank.bank_clock() OR h.allowed_at IS NOT NULL
       -- An answer came since, for every one of its payees.
       OR (h.reason = 'name_unavailable' AND NOT EXISTS (SELECT FROM bank.pending_line l
             WHERE l.customer_id = h.customer_id AND l.action_id = h.action_id AND l.version = h.version AND l.payee_id IS NOT NULL
               AND NOT EXISTS (SELECT FROM bank.account_directory d JOIN bank.payee p ON p.iban = d.iban
                     WHERE p.customer_id = l.customer_id AND p.payee_id = l.payee_id)
               AND NOT EXISTS (SELECT FROM bank.name_check n WHERE n.customer_id = l.customer_id AND n.payee_id = l.payee_id
                     AND n.result <> 'unavailable' AND n.checked_at >= h.held_at))))
   ORDER BY h.held_at LIMIT least(most, 1000);
END
$$;

-- What the poster has to do, oldest first.
CREATE OR REPLACE FUNCTION bank.due_transfers(most integer) RETURNS TABLE (customer_id uuid, transfer_id uuid)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  RETURN QUERY SELECT t.customer_id, t.transfer_id FROM bank.transfer t
    WHERE t.state = 'reserved' AND t.post_after <= bank.bank_clock() ORDER BY t.post_after LIMIT least(most, 1000);
END
$$;

-- The first step: under the payer's lock, and by the clock read after it, the money leaves, and nothing can be undone any more. Without
-- this step a payee could be credited while an undo is being written. Says whether it leaves, now or since before.
CREATE OR REPLACE FUNCTION bank.begin_leaving(payer uuid, which uuid) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  PERFORM bank.lock_customer_row(payer);
  UPDATE bank.transfer t SET leaving_at = bank.bank_clock()
   WHERE t.customer_id = payer AND t.transfer_id = which AND t.state = 'reserved' AND t.leaving_at IS NULL AND t.post_after <= bank.bank_clock();
  PERFORM 1 FROM bank.transfer t WHERE t.customer_id = payer AND t.transfer_id = which AND t.state = 'reserved' AND t.leaving_at IS NOT NULL;
  RETURN FOUND;
END
$$;

-- Credits a payee inside the bank, under the payee's lock alone. Says whether there was such a payee to credit; a second call
-- finds the credit there and changes nothing.
CREATE OR REPLACE FUNCTION bank.credit_payee(payer uuid, which uuid) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  paid bank.transfer;
  inside bank.account_directory;
  new_id uuid := pg_catalog.gen_random_uuid();
  payer_name text;
  payer_iban text;
  payer_note text;
BEGIN
  SELECT * INTO paid FROM bank.transfer t
   WHERE t.customer_id = payer AND t.transfer_id = which AND t.state = 'reserved' AND t.leaving_at IS NOT NULL;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  SELECT * INTO inside FROM bank.account_directory d WHERE d.iban = paid.counterparty_iban;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM bank.lock_customer_row(inside.customer_id);
  PERFORM 1 FROM bank.transfer t WHERE t.customer_id = inside.customer_id AND t.origin_transfer_id = which;
  IF FOUND THEN
    RETURN true;
  END IF;
  SELECT k.display_name INTO STRICT payer_name FROM bank.customer k WHERE k.customer_id = payer;
  SELECT a.iban INTO STRICT payer_iban FROM bank.account a WHERE a.customer_id = payer AND a.account_id = paid.account_id;
  SELECT e.note INTO payer_note FROM bank.execution e WHERE e.customer_id = payer AND e.action_id = paid.action_id;
  INSERT INTO bank.transfer (customer_id, transfer_id, account_id, kind, state, amount_minor_units, currency, counterparty_name,
    counterparty_iban, reference, category, origin_transfer_id, posted_at)
  VALUES (inside.customer_id, new_id, inside.account_id, 'payment_in', 'posted', paid.amount_minor_units, paid.currency, payer_name,
    payer_iban, coalesce(payer_note, ''), 'incoming', which, bank.bank_clock());
  INSERT INTO bank.entry (customer_id, transfer_id, leg, book, account_id, amount_minor_units, currency) VALUES
    (inside.customer_id, new_id, 1, 'transit', NULL, -paid.amount_minor_units, paid.currency),
    (inside.customer_id, new_id, 2, 'account', inside.account_id, paid.amount_minor_units, paid.currency);
  PERFORM bank.credit_account(inside.customer_id, inside.account_id, paid.amount_minor_units);
  RETURN true;
END
$$;

-- Marks a payer's transfer posted, under the payer's lock: after the payee inside the bank was credited, or, for a payee outside,
-- with the legs that hand the money over to settlement. Says whether it changed anything.
CREATE OR REPLACE FUNCTION bank.post_transfer(payer uuid, which uuid) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  paid bank.transfer;
  inside bank.account_directory;
BEGIN
  PERFORM bank.lock_customer_row(payer);
  SELECT * INTO paid FROM bank.transfer t WHERE t.customer_id = payer AND t.transfer_id = which;
  IF NOT FOUND OR paid.state <> 'reserved' OR paid.leaving_at IS NULL THEN
    RETURN false;
  END IF;
  SELECT * INTO inside FROM bank.account_directory d WHERE d.iban = paid.counterparty_iban;
  IF FOUND THEN
    PERFORM 1 FROM bank.transfer t WHERE t.customer_id = inside.customer_id AND t.origin_transfer_id = which;
    IF NOT FOUND THEN
      RETURN false;
    END IF;
  ELSE
    INSERT INTO bank.entry (customer_id, transfer_id, leg, book, account_id, amount_minor_units, currency) VALUES
      (payer, which, 3, 'transit', NULL, -paid.amount_minor_units, paid.currency),
      (payer, which, 4, 'settlement', NULL, paid.amount_minor_units, paid.currency);
  END IF;
  UPDATE bank.transfer SET state = 'posted', posted_at = bank.bank_clock() WHERE customer_id = payer AND transfer_id = which;
  PERFORM bank.append_event_for(payer, 'posted', paid.action_id, bank.plain_event('posted', paid.action_id, which));
  PERFORM pg_catalog.pg_notify('countersign_wake', '');
  RETURN true;
END
$$;

-- Expires what nobody confirmed in time, each under its customer's lock and by the clock read after it. Returns how many.
CREATE OR REPLACE FUNCTION bank.expire_due(most integer) RETURNS integer
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  due record;
  ended integer := 0;
BEGIN
  -- In the order of customers, so that two sweepers never wait for each other in a circle.
  FOR due IN SELECT a.customer_id, a.action_id FROM bank.pending_action a
    WHERE a.state = 'pending' AND a.expires_at <= bank.bank_clock()
       OR a.state = 'held' AND EXISTS (SELECT FROM bank.hold h WHERE h.customer_id = a.customer_id AND h.action_id = a.action_id
            AND h.ends_at <= bank.bank_clock())
    ORDER BY a.customer_id, a.action_id LIMIT least(most, 1000) LOOP
    PERFORM bank.lock_customer_row(due.customer_id);
    PERFORM 1 FROM bank.pending_action a WHERE a.customer_id = due.customer_id AND a.action_id = due.action_id
      AND a.state = 'pending' AND a.expires_at <= bank.bank_clock();
    IF FOUND THEN
      PERFORM bank.end_action(due.customer_id, due.action_id, 'expired', 'expired');
      ended := ended + 1;
    END IF;
    PERFORM 1 FROM bank.pending_action a JOIN bank.hold h ON h.customer_id = a.customer_id AND h.action_id = a.action_id
     WHERE a.customer_id = due.customer_id AND a.action_id = due.action_id AND a.state = 'held' AND h.ends_at <= bank.bank_clock();
    IF FOUND THEN
      PERFORM bank.end_action(due.customer_id, due.action_id, 'expired', 'hold_expired');
      ended := ended + 1;
    END IF;
  END LOOP;
  RETURN ended;
END
$$;

DO $ownership$
DECLARE
  signature text;
BEGIN
  GRANT CREATE ON SCHEMA bank TO cs_executor;
  FOREACH signature IN ARRAY ARRAY['bank.plain_event(text, uuid, uuid)', 'bank.end_action(uuid, uuid, text, text)',
    'bank.debit_account(uuid, uuid, bigint)', 'bank.credit_account(uuid, uuid, bigint)',
    'bank.check_payments(uuid, bank.pending_action, bank.pending_version)',
    'bank.make_transfers(uuid, bank.pending_action, bank.pending_version, uuid[])',
    'bank.make_effect(uuid, bank.pending_action, bank.pending_version, uuid)',
    'bank.take_effect(uuid, bank.pending_action, bank.pending_version, uuid[])',
    'bank.record_execution(uuid, bank.pending_action, integer, bytea, bytea, text, bytea, bytea)',
    'bank.hold_action(uuid, bank.pending_action, integer, text, bytea, bytea, text, bytea, bytea)',
    'bank.void_action(uuid, uuid, text)', 'bank.unpay_payee(uuid, uuid, timestamptz)',
    'bank.undone_event(uuid, bank.execution, uuid[], text, timestamptz)', 'bank.undo_action(uuid)',
    'bank.release_hold(uuid, bytea, boolean, text, uuid[], bytea)', 'bank.due_holds(integer)',
    'bank.confirm_action(uuid, integer, text, bytea, bytea, text, bytea, uuid[], bytea, text)',
    'bank.due_transfers(integer)', 'bank.begin_leaving(uuid, uuid)', 'bank.credit_payee(uuid, uuid)', 'bank.post_transfer(uuid, uuid)', 'bank.expire_due(integer)'] LOOP
    EXECUTE format('ALTER FUNCTION %s OWNER TO cs_executor', signature);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', signature);
  END LOOP;
  REVOKE CREATE ON SCHEMA bank FROM cs_executor;
END
$ownership$;
GRANT EXECUTE ON FUNCTION bank.confirm_action(uuid, integer, text, bytea, bytea, text, bytea, uuid[], bytea, text),
  bank.undo_action(uuid), bank.release_hold(uuid, bytea, boolean, text, uuid[], bytea) TO panel;
GRANT EXECUTE ON FUNCTION bank.due_holds(integer) TO releaser;
GRANT EXECUTE ON FUNCTION bank.due_transfers(integer), bank.begin_leaving(uuid, uuid), bank.credit_payee(uuid, uuid), bank.post_transfer(uuid, uuid) TO poster;
GRANT EXECUTE ON FUNCTION bank.expire_due(integer) TO sweeper;
