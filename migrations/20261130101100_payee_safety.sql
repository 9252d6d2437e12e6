-- Care with payees: how long one counts as new, whose account a saved payee's number is, and two more things a customer
-- answers on the panel.
SET LOCAL ROLE cs_owner;

ALTER TABLE bank.setting
  -- For this long after the first payment everything that goes to a payee counts as that first payment.
  ADD COLUMN new_payee_seconds integer NOT NULL DEFAULT 86400
    CONSTRAINT new_payee_seconds_range CHECK (new_payee_seconds BETWEEN 0 AND 2592000),
  -- A payment to a new payee that takes more than this share of the account is asked about.
  ADD COLUMN large_share_percent smallint NOT NULL DEFAULT 50
    CONSTRAINT large_share_percent_range CHECK (large_share_percent BETWEEN 1 AND 100);

ALTER TABLE bank.panel_entry DROP CONSTRAINT entry_slot;
ALTER TABLE bank.panel_entry ADD CONSTRAINT entry_slot CHECK (slot IN ('payee', 'amount', 'from_account', 'card', 'order', 'transaction',
  'frequency', 'start_date', 'dispute_reason', 'details', 'payee_name', 'payee_iban', 'value', 'keep', 'drop', 'last_four', 'purpose'));

-- In whose name the accounts of the session's own payees are, where they are accounts of this bank. Nobody asks by a number: only
-- what the customer has saved is looked up, and only their panel hears the answer.
CREATE FUNCTION bank.payee_holders() RETURNS TABLE (payee_id uuid, holder text)
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  RETURN QUERY SELECT p.payee_id, k.display_name
    FROM bank.payee p
    JOIN bank.account_directory d ON d.iban = p.iban
    JOIN bank.customer k ON k.customer_id = d.customer_id
   WHERE p.customer_id = (SELECT bank.current_customer());
END
$$;
GRANT EXECUTE ON FUNCTION bank.payee_holders() TO panel;

RESET ROLE;
GRANT CREATE ON SCHEMA bank TO cs_executor;
ALTER FUNCTION bank.payee_holders() OWNER TO cs_executor;
REVOKE CREATE ON SCHEMA bank FROM cs_executor;
