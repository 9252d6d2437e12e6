-- The language the panel speaks with a customer, apart from the locale in which the customer writes: that one decides how the
-- customer's own numbers and words are read, and no menu changes it.
SET LOCAL ROLE cs_owner;

ALTER TABLE bank.customer ADD COLUMN panel_language text
  CONSTRAINT panel_language_form CHECK (panel_language ~ '^[a-z]{2,3}$');
GRANT SELECT (panel_language) ON bank.customer TO panel, cs_executor;
GRANT UPDATE (panel_language) ON bank.customer TO cs_owner;
CREATE POLICY owner_keeps_languages ON bank.customer FOR UPDATE TO cs_owner USING (true) WITH CHECK (true);

CREATE FUNCTION bank.choose_panel_language(which text) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
BEGIN
  UPDATE bank.customer SET panel_language = which WHERE customer_id = (SELECT bank.current_customer());
  RETURN FOUND;
END
$$;
GRANT EXECUTE ON FUNCTION bank.choose_panel_language(text) TO panel;

RESET ROLE;
