/** One row for each day that has a partition: rows, as the planner estimates them, and bytes with indexes. */
export const LIST_DAYS = `
SELECT right(child.relname, 8) AS day,
  sum(greatest(child.reltuples, 0)) FILTER (WHERE parent.relname = 'deliveries')::bigint AS deliveries,
  sum(pg_total_relation_size(child.oid))::bigint AS bytes
FROM pg_inherits
JOIN pg_class AS child ON child.oid = inhrelid
JOIN pg_class AS parent ON parent.oid = inhparent
WHERE inhparent IN (to_regclass('herald.deliveries'), to_regclass('herald.transitions'))
GROUP BY 1 ORDER BY 1`;
