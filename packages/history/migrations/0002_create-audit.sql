-- The audit trail: who changed what. Rows are deleted by age, in small steps.
CREATE TABLE herald.audit (
  -- Its order is that of time; see packages/store/src/access/audit-trail.ts.
  id text COLLATE "C" PRIMARY KEY,
  -- A key, a portal link, operator or cli.
  by text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C",
  -- All of it.
  entry jsonb NOT NULL
);

CREATE INDEX audit_workspace ON herald.audit (workspace_id, id) WHERE workspace_id IS NOT NULL;
CREATE INDEX audit_by ON herald.audit (by, id);

-- Whoever was allowed to read the history may read this, too.
DO $$
DECLARE reader record;
BEGIN
  FOR reader IN
    SELECT DISTINCT grantee FROM information_schema.role_table_grants
    WHERE table_schema = 'herald' AND table_name = 'deliveries' AND privilege_type = 'SELECT'
      AND grantee NOT IN (current_user, 'PUBLIC')
  LOOP
    EXECUTE format('GRANT SELECT ON herald.audit TO %I', reader.grantee);
  END LOOP;
END
$$;
