-- From which amount on a payment wants the passkey is a limit like the others: lower is more careful.
SET LOCAL ROLE cs_owner;

ALTER TABLE bank.limit_change DROP CONSTRAINT changed_limit;
ALTER TABLE bank.limit_change ADD CONSTRAINT changed_limit
  CHECK (limit_name IN ('per_transfer', 'per_day', 'pending_total', 'first_payment', 'step_up_over', 'undo_seconds'));
GRANT UPDATE (step_up_over_minor_units) ON bank.customer_limit TO cs_executor;
RESET ROLE;
