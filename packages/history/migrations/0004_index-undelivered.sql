-- What support looks for: deliveries that failed, of a workspace or of an endpoint of it. Few rows are in it.
-- The index of the whole is made at once, empty; days that are made from now on have it. Workers make that of the days
-- that there are, one by one (src/partitions), and nobody who reads waits for any of it. Whoever writes is let through
-- after two seconds: then a transaction that wrote holds it up, and it is tried again.
SET LOCAL lock_timeout = '2s';
CREATE INDEX deliveries_undelivered ON ONLY herald.deliveries (workspace_id, status, created_at, endpoint_id)
  WHERE status <> 'delivered';
