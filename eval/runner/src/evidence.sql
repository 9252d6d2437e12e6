-- Everything that the customers of one run have, as one JSON text: what verdicts are made of.
-- {customers} is replaced by the run's customer ids.
SELECT json_build_object(
  'actions', (SELECT coalesce(json_agg(f ORDER BY f.created_at), '[]') FROM (
    SELECT a.customer_id AS customer, a.action_id::text AS action, a.conversation_id::text AS conversation, a.kind, a.state, a.reason,
           a.current_version AS version, v.currency, k.last_four AS card, o.name AS "order", t.counterparty_name AS transaction,
           v.frequency, v.start_date::text AS start_date, v.typed::text AS typed, s.label AS from_account, a.created_at,
           x.note, encode(x.confirm_hash, 'hex') AS confirm_hash,
           EXISTS (SELECT FROM bank.step_up u WHERE (u.customer_id, u.action_id) = (a.customer_id, a.action_id) AND u.purpose = 'confirm'
                      AND u.used_at IS NOT NULL) AS step_up,
           (SELECT coalesce(json_agg(json_build_object('payee', coalesce(p.name, w.label), 'own_account', w.label IS NOT NULL,
                                                       'amount', l.amount_minor_units) ORDER BY l.line_number), '[]')
              FROM bank.pending_line l
              LEFT JOIN bank.payee p ON (p.customer_id, p.payee_id) = (l.customer_id, l.payee_id)
              LEFT JOIN bank.account w ON (w.customer_id, w.account_id) = (l.customer_id, l.own_account_id)
             WHERE (l.customer_id, l.action_id, l.version) = (a.customer_id, a.action_id, a.current_version)) AS lines
      FROM bank.pending_action a
      JOIN bank.pending_version v ON (v.customer_id, v.action_id, v.version) = (a.customer_id, a.action_id, a.current_version)
      LEFT JOIN bank.card k ON (k.customer_id, k.card_id) = (v.customer_id, v.card_id)
      LEFT JOIN bank.standing_order o ON (o.customer_id, o.order_id) = (v.customer_id, v.order_id)
      LEFT JOIN bank.transfer t ON (t.customer_id, t.transfer_id) = (v.customer_id, v.transaction_id)
      LEFT JOIN bank.account s ON (s.customer_id, s.account_id) = (v.customer_id, v.from_account_id)
      LEFT JOIN bank.execution x ON (x.customer_id, x.action_id) = (a.customer_id, a.action_id)
     WHERE a.customer_id IN ({customers})) AS f),
  'moves', (SELECT coalesce(json_agg(f ORDER BY f.created_at), '[]') FROM (
    SELECT t.customer_id AS customer, t.transfer_id::text AS transfer, t.kind, t.state, t.amount_minor_units AS amount, t.currency,
           coalesce(p.name, t.counterparty_name) AS counterparty, t.counterparty_iban AS iban, t.action_id::text AS action, t.reference, t.created_at, lower(o.kind) AS account,
           (SELECT coalesce(sum(e.amount_minor_units), 0) FROM bank.entry e
             WHERE (e.customer_id, e.transfer_id) = (t.customer_id, t.transfer_id) AND e.book = 'account') AS on_account
      FROM bank.transfer t
      LEFT JOIN bank.payee p ON (p.customer_id, p.payee_id) = (t.customer_id, t.payee_id)
      LEFT JOIN bank.account o ON (o.customer_id, o.account_id) = (t.customer_id, t.account_id)
     WHERE t.customer_id IN ({customers}) AND (t.action_id IS NOT NULL OR t.origin_transfer_id IS NOT NULL)) AS f),
  'balances', (SELECT coalesce(json_agg(f), '[]') FROM (
    SELECT a.customer_id AS customer, lower(a.kind) AS account, a.currency, b.balance_minor_units AS amount
      FROM bank.account a JOIN bank.account_balance b USING (customer_id, account_id) WHERE a.customer_id IN ({customers})) AS f),
  'cards', (SELECT coalesce(json_agg(f), '[]') FROM (
    SELECT k.customer_id AS customer, k.last_four AS card, k.state FROM bank.card k WHERE k.customer_id IN ({customers})) AS f),
  'orders', (SELECT coalesce(json_agg(f), '[]') FROM (
    SELECT o.customer_id AS customer, o.name, o.amount_minor_units AS amount, o.currency, p.name AS payee, o.state
      FROM bank.standing_order o JOIN bank.payee p USING (customer_id, payee_id) WHERE o.customer_id IN ({customers})) AS f),
  'payees', (SELECT coalesce(json_agg(f), '[]') FROM (
    SELECT p.customer_id AS customer, p.payee_id::text AS payee, p.name, p.iban FROM bank.payee p WHERE p.customer_id IN ({customers})) AS f),
  'disputes', (SELECT coalesce(json_agg(f), '[]') FROM (
    SELECT d.customer_id AS customer, d.reason, d.details FROM bank.dispute d WHERE d.customer_id IN ({customers})) AS f),
  'profiles', (SELECT coalesce(json_agg(f), '[]') FROM (
    SELECT p.customer_id AS customer, p.address, p.phone, p.email FROM bank.profile p WHERE p.customer_id IN ({customers})) AS f),
  'events', (SELECT coalesce(json_agg(f ORDER BY f.customer, f.sequence), '[]') FROM (
    SELECT e.customer_id AS customer, e.sequence, e.kind, e.action_id::text AS action FROM bank.bank_event e WHERE e.customer_id IN ({customers})) AS f),
  'alarms', (SELECT coalesce(json_agg(f ORDER BY f.recorded_at), '[]') FROM (
    SELECT c.customer_id AS customer, c.kind, c.rule, c.number, c.recorded_at FROM bank.chat_event c WHERE c.customer_id IN ({customers})) AS f),
  'utterances', (SELECT coalesce(json_agg(f ORDER BY f.sequence), '[]') FROM (
    SELECT u.customer_id AS customer, u.sequence, u.body FROM bank.utterance u WHERE u.customer_id IN ({customers})) AS f)
)::text
