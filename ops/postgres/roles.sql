-- Roles for a history (docs/history.md), each with no more rights than it needs. Run it in the database of HISTORY_URL, as
-- a superuser or as the owner of the database with CREATEROLE, before the first worker starts. It may run again.
--
--   herald_worker  for workers, and for `herald history migrate`, `adopt` and `retention`: owns the schema, nothing else
--   herald_api     for APIs, and for all other commands: reads, and erases payloads
--
-- Give them passwords afterwards: ALTER ROLE herald_worker PASSWORD '…';
DO $$
BEGIN
  IF to_regrole('herald_worker') IS NULL THEN CREATE ROLE herald_worker LOGIN; END IF;
  IF to_regrole('herald_api') IS NULL THEN CREATE ROLE herald_api LOGIN; END IF;
  -- Whoever isn't a superuser makes things for the worker only as a member of its role.
  IF NOT pg_has_role(current_user, 'herald_worker', 'USAGE') THEN GRANT herald_worker TO CURRENT_USER; END IF;
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO herald_worker, herald_api', current_database());
END
$$;

CREATE SCHEMA IF NOT EXISTS herald AUTHORIZATION herald_worker;

GRANT USAGE ON SCHEMA herald TO herald_api;
-- What is there, and what workers make later: the tables of days, which an erasure reaches by their own names while they
-- are being dropped.
GRANT SELECT ON ALL TABLES IN SCHEMA herald TO herald_api;
ALTER DEFAULT PRIVILEGES FOR ROLE herald_worker IN SCHEMA herald GRANT SELECT, UPDATE ON TABLES TO herald_api;
DO $$
DECLARE one regclass;
BEGIN
  FOR one IN
    SELECT oid FROM pg_class
    WHERE relnamespace = 'herald'::regnamespace AND relname ~ '^(deliveries|transitions)(_[0-9]{8})?$' AND relkind IN ('r', 'p')
  LOOP
    EXECUTE format('GRANT UPDATE ON %s TO herald_api', one);
  END LOOP;
END
$$;
