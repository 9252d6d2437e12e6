-- Name checks of payees at other banks, part of the execution path: what is to be asked, and where the answer is kept.
--
-- Applied with execution.sql and again whenever it changes; owned by cs_executor like everything there.

-- Payees at other banks that an open or held request pays and whose check is missing, too old, or had no answer a while ago.
CREATE OR REPLACE FUNCTION bank.due_name_checks(most integer) RETURNS TABLE (customer_id uuid, payee_id uuid, name text, iban text)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  RETURN QUERY SELECT DISTINCT p.customer_id, p.payee_id, p.name, p.iban
    FROM bank.pending_action a
    JOIN bank.pending_line l ON l.customer_id = a.customer_id AND l.action_id = a.action_id AND l.version = a.current_version
    JOIN bank.payee p ON p.customer_id = l.customer_id AND p.payee_id = l.payee_id
    LEFT JOIN bank.name_check n ON n.customer_id = p.customer_id AND n.payee_id = p.payee_id
   WHERE a.state IN ('pending', 'held') AND NOT EXISTS (SELECT FROM bank.account_directory d WHERE d.iban = p.iban)
     AND (n.payee_id IS NULL
       OR n.checked_at <= bank.bank_clock() - (SELECT s.name_check_seconds FROM bank.setting s) * interval '1 second'
       OR (n.result = 'unavailable' AND n.checked_at <= bank.bank_clock() - interval '1 minute'))
   LIMIT least(most, 200);
END
$$;

-- Keeps an answer, and wakes the panels: a card with another answer is another card.
CREATE OR REPLACE FUNCTION bank.keep_name_check(p_customer uuid, p_payee uuid, p_result text, p_holder text) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  INSERT INTO bank.name_check (customer_id, payee_id, result, holder) VALUES (p_customer, p_payee, p_result, p_holder)
  ON CONFLICT (customer_id, payee_id) DO UPDATE SET result = excluded.result, holder = excluded.holder, checked_at = bank.bank_clock();
  PERFORM pg_catalog.pg_notify('countersign_wake', '');
END
$$;

DO $ownership$
DECLARE
  signature text;
BEGIN
  GRANT CREATE ON SCHEMA bank TO cs_executor;
  FOREACH signature IN ARRAY ARRAY['bank.due_name_checks(integer)', 'bank.keep_name_check(uuid, uuid, text, text)'] LOOP
    EXECUTE format('ALTER FUNCTION %s OWNER TO cs_executor', signature);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', signature);
  END LOOP;
  REVOKE CREATE ON SCHEMA bank FROM cs_executor;
END
$ownership$;
GRANT EXECUTE ON FUNCTION bank.due_name_checks(integer), bank.keep_name_check(uuid, uuid, text, text) TO checker;
