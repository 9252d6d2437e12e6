// What the tables say about Ada's money. It is counted there and not on the page.

/** The counts of one bank. */
export function ledgerOf(bank) {
  const number = async (sql) => Number((await bank.query(sql))[0].n);
  return {
    number,
    /** What stands on her default account, in cents. */
    balance: () =>
      number(
        `SELECT balance_minor_units::text AS n FROM bank.account_balance JOIN bank.account a USING (customer_id, account_id)
           JOIN bank.customer USING (customer_id) WHERE display_name = 'Ada' AND a.is_default`,
      ),
    /** How many requests were confirmed, everybody's. */
    executions: () => number("SELECT count(*)::text AS n FROM bank.execution"),
  };
}
