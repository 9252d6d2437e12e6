-- What the role that copies the bank may read: all of it, also what later migrations make, and nothing else. Row-level security does not
-- bind it (services/store/sql/roles.sql); it has no right to write anything, and its sessions are read-only besides.
GRANT SELECT ON ALL TABLES IN SCHEMA bank TO backup;
GRANT SELECT ON ALL SEQUENCES IN SCHEMA bank TO backup;
GRANT USAGE ON SCHEMA public TO backup;
GRANT SELECT ON public._sqlx_migrations TO backup;
SET LOCAL ROLE cs_owner;
GRANT USAGE ON SCHEMA bank TO backup;
ALTER DEFAULT PRIVILEGES IN SCHEMA bank GRANT SELECT ON TABLES TO backup;
ALTER DEFAULT PRIVILEGES IN SCHEMA bank GRANT SELECT ON SEQUENCES TO backup;
RESET ROLE;
