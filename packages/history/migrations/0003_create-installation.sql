-- Which history this is, and whose: one row. Whoever comes with another URL, or from other data, finds it out.
CREATE TABLE herald.installation (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  id text NOT NULL DEFAULT gen_random_uuid()::text,
  -- The id of the data in Redis whose history it is. Absent until a worker has taken it.
  data_id text,
  -- How long days are kept, in ms. Less than half of it needs a word of an operator. Absent until a worker has said it.
  retention_ms bigint,
  -- When a worker last looked at both this and Redis, by the clock of Redis, epoch ms. Redis has it, too.
  seen_ms bigint
);
INSERT INTO herald.installation DEFAULT VALUES;

-- Whoever was allowed to read the history may read this, too.
DO $$
DECLARE reader record;
BEGIN
  FOR reader IN
    SELECT DISTINCT grantee FROM information_schema.role_table_grants
    WHERE table_schema = 'herald' AND table_name = 'deliveries' AND privilege_type = 'SELECT'
      AND grantee NOT IN (current_user, 'PUBLIC')
  LOOP
    EXECUTE format('GRANT SELECT ON herald.installation TO %I', reader.grantee);
  END LOOP;
END
$$;
