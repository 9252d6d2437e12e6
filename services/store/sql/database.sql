-- Rights on the database itself. A clone of a template does not inherit them, so they are repeated in each.
-- The launcher runs this in every database it makes.
DO $database$
BEGIN
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO bank_mcp, intake, panel, poster, sweeper, releaser, relay, checker, notary, dashboard, backup', current_database());
END
$database$;
