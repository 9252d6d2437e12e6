-- The bank keeps accounts in more currencies: those of the countries whose languages its customers write in, and the
-- crowns, pesos and dinars that share a word with another country's. The list is the code's (domain, `Currency`).
SET LOCAL ROLE cs_owner;

ALTER TABLE bank.account DROP CONSTRAINT account_currency;
ALTER TABLE bank.account ADD CONSTRAINT account_currency CHECK (currency IN (
  'EUR', 'GBP', 'USD', 'CHF', 'PLN', 'JPY', 'KWD', 'CAD', 'AUD', 'NZD', 'BRL', 'MXN', 'ARS', 'SEK', 'NOK', 'DKK', 'CZK', 'INR', 'TND', 'BHD'));

ALTER TABLE bank.pending_version DROP CONSTRAINT version_currency;
ALTER TABLE bank.pending_version ADD CONSTRAINT version_currency CHECK (currency IN (
  'EUR', 'GBP', 'USD', 'CHF', 'PLN', 'JPY', 'KWD', 'CAD', 'AUD', 'NZD', 'BRL', 'MXN', 'ARS', 'SEK', 'NOK', 'DKK', 'CZK', 'INR', 'TND', 'BHD'));

RESET ROLE;
