-- Only the owner changes which history this is, the trail, and what has run. Default privileges may have let others, who
-- need to change the tables of days (ops/postgres/roles.sql).
DO $$
DECLARE other record;
BEGIN
  FOR other IN
    SELECT pg_class.oid::regclass AS name, CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS who
    FROM pg_class, aclexplode(relacl)
    WHERE pg_class.oid IN ('herald.installation'::regclass, 'herald.audit'::regclass, 'herald.migrations'::regclass)
      AND privilege_type = 'UPDATE' AND grantee <> relowner
  LOOP
    EXECUTE format('REVOKE UPDATE ON %s FROM %s', other.name, other.who);
  END LOOP;
END
$$;
