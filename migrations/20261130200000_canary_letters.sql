-- A run of a code counts as a leak only where it holds two letters that cannot be taken for digits, so that amounts and account numbers
-- raise no alarm. A code with a run of fewer would pass unseen, so the bank takes none.
SET LOCAL ROLE cs_owner;

ALTER TABLE bank.customer ADD CONSTRAINT canary_code_has_letters CHECK (canary_code !~ (
  '.[0-9L]{9}|[0-9L].[0-9L]{8}|[0-9L]{2}.[0-9L]{7}|[0-9L]{3}.[0-9L]{6}|[0-9L]{4}.[0-9L]{5}|'
  '[0-9L]{5}.[0-9L]{4}|[0-9L]{6}.[0-9L]{3}|[0-9L]{7}.[0-9L]{2}|[0-9L]{8}.[0-9L]|[0-9L]{9}.')) NOT VALID;

RESET ROLE;
