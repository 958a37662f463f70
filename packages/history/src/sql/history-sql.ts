/** Every statement of the history. Values are parameters; names of tables are made of numbers, or were read from the catalog. */

/** Two numbers name an advisory lock. Nothing else uses the first. All are held until the end of a transaction. */
const [ERASING, PARTITIONS, TENDING, MIGRATING] = ['20776, 1', '20776, 2', '20776, 3', '20776, 4'];
/** For a mover, and for whoever drops a day: from before it reads Redis until the end of its transaction, nobody erases here. */
export const LOCK_FOR_MOVING = `SELECT pg_advisory_xact_lock_shared(${ERASING})`;
/** For an eraser: waits for the movers that may have read what it has erased in Redis. */
export const LOCK_FOR_ERASING = `SELECT pg_advisory_xact_lock(${ERASING})`;
/** One transaction makes the partitions of a day: whoever comes second waits, and finds them. */
export const LOCK_FOR_PARTITIONS = `SELECT pg_advisory_xact_lock(${PARTITIONS})`;
/** One process drops days at a time. One row: whether it is this one. */
export const TRY_LOCK_FOR_TENDING = `SELECT pg_try_advisory_xact_lock(${TENDING}) AS mine`;

/** One process migrates: whoever comes second waits, and finds nothing to do. */
export const LOCK_FOR_MIGRATING = `SELECT pg_advisory_xact_lock(${MIGRATING})`;

// Moving.

/**
 * Writes transitions. One that is here stays as it is, except that an erasure is taken over.
 * $1: created_at[]   $2: erased_at[]   $3: sequence[]   $4: id[]   $5: sample_of[]   $6: request_id[]
 * $7: traceparent[]   $8: body[]
 */
export const INSERT_TRANSITIONS = `
INSERT INTO herald.transitions AS known
  (created_at, erased_at, sequence, id, sample_of, request_id, traceparent, body)
SELECT * FROM unnest(
  $1::bigint[], $2::bigint[], $3::integer[], $4::bytea[], $5::text[], $6::text[], $7::text[], $8::text[])
ON CONFLICT (created_at, id) DO UPDATE SET erased_at = excluded.erased_at, body = NULL
WHERE known.erased_at IS NULL AND excluded.erased_at IS NOT NULL`;

/**
 * Writes deliveries. Of two versions the one that changed later stays.
 * $1: created_at[]   $2: settled_at[]   $3: changed_at[]   $4: scheduled_at[]   $5: tries[]   $6: place[]
 * $7: is_released[]   $8: id[]   $9: transition_id[]   $10: endpoint_id[]   $11: workspace_id[]   $12: task_id[]
 * $13: event[]   $14: status[]   $15: reason[]   $16: attempts[]
 */
export const INSERT_DELIVERIES = `
INSERT INTO herald.deliveries AS known
  (created_at, settled_at, changed_at, scheduled_at, tries, place, is_released, id, transition_id, endpoint_id,
   workspace_id, task_id, event, status, reason, attempts)
SELECT * FROM unnest(
  $1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::integer[], $6::integer[], $7::boolean[], $8::bytea[],
  $9::bytea[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[])
ON CONFLICT (id, created_at) DO UPDATE SET
  settled_at = excluded.settled_at, changed_at = excluded.changed_at, scheduled_at = excluded.scheduled_at,
  tries = excluded.tries, place = excluded.place, is_released = excluded.is_released, status = excluded.status,
  reason = excluded.reason, attempts = excluded.attempts
WHERE known.changed_at <= excluded.changed_at`;

// Days.

/**
 * Every table of a day, the oldest first: `attached` can be read through the whole table, `going` is being detached,
 * `detached` only has to be dropped.
 */
export const LIST_DAY_TABLES = `
SELECT relname AS name,
  CASE WHEN inhrelid IS NULL THEN 'detached' WHEN inhdetachpending THEN 'going' ELSE 'attached' END AS state
FROM pg_class LEFT JOIN pg_inherits
  ON inhrelid = pg_class.oid AND inhparent IN (to_regclass('herald.deliveries'), to_regclass('herald.transitions'))
WHERE relnamespace = to_regnamespace('herald') AND relkind = 'r' AND relname ~ '^(deliveries|transitions)_[0-9]{8}$'
ORDER BY relname`;

/**
 * Makes a partition. Attaching locks the table for nobody who reads or writes, while creating it as a partition would.
 * @param from, to epoch ms
 */
export const createPartition = (table: string, name: string, from: number, to: number) =>
  `CREATE TABLE herald.${name} (LIKE herald.${table} INCLUDING ALL);
ALTER TABLE herald.${table} ATTACH PARTITION herald.${name} FOR VALUES FROM (${from}) TO (${to})`;

/** Waits for whoever reads the table, and locks out nobody. It can't be part of a transaction; cut off, it is `going`. */
export const detachPartition = (table: string, name: string) =>
  `ALTER TABLE herald.${table} DETACH PARTITION herald.${name} CONCURRENTLY`;
/** Ends a statement of the same user, whichever connection of a pooler runs it. */
export const CANCEL_STATEMENT = `
SELECT pg_cancel_backend(pid) FROM pg_stat_activity
WHERE state = 'active' AND query = $1 AND usename = current_user AND datname = current_database()`;
/** After a detaching that was cut off. While one is, PostgreSQL begins no other in this table. */
export const finishDetaching = (table: string, name: string) =>
  `ALTER TABLE herald.${table} DETACH PARTITION herald.${name} FINALIZE`;
export const dropTable = (name: string) => `DROP TABLE IF EXISTS herald.${name}`;

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

/**
 * Days that lack the index of what was not delivered: they are older than it. $1: at most so many. A day that is being
 * dropped doesn't count.
 */
export const LIST_UNINDEXED_DAYS = `
SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
WHERE inhparent = to_regclass('herald.deliveries') AND NOT inhdetachpending AND NOT EXISTS (
  SELECT FROM pg_inherits AS part JOIN pg_index ON indexrelid = part.inhrelid
  WHERE part.inhparent = to_regclass('herald.deliveries_undelivered') AND indrelid = pg_class.oid)
ORDER BY relname DESC LIMIT $1`;
/** It locks out who writes into this day. The index of the whole is used once all days have theirs. */
export const indexDay = (name: string) =>
  `CREATE INDEX ${name}_undelivered ON herald.${name} (workspace_id, status, created_at, endpoint_id)
  WHERE status <> 'delivered';
ALTER INDEX herald.deliveries_undelivered ATTACH PARTITION herald.${name}_undelivered`;

// Reading.

/** What is read of a delivery, with what its transition adds, beside its attempts. */
const COLUMNS = `d.id, d.workspace_id, d.endpoint_id, d.transition_id, d.task_id, d.event, d.status, d.reason, d.created_at,
  d.scheduled_at, d.settled_at, d.tries, d.place, d.is_released, t.sample_of, t.erased_at`;
const ALL_ATTEMPTS = 'd.attempts';
/** Lists show the last alone: all that one was answered may be many times as long. */
const LAST_ATTEMPT = '(d.attempts::json -> -1)::text AS last_attempt';

/**
 * The first and the last day that can be read, such as 20261123; null when there is none. `is_indexed`: whether what was not
 * delivered can be found by its index.
 */
export const READ_DAYS = `SELECT min(right(relname, 8)) AS first, max(right(relname, 8)) AS last,
  (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('herald.deliveries_undelivered')) IS TRUE AS is_indexed
FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
WHERE inhparent = to_regclass('herald.deliveries') AND NOT inhdetachpending`;

// Every statement says from when to when it reads, of both tables: PostgreSQL plans, locks and opens only those days.

/** One by one, in the partition of its day. Joined at once, PostgreSQL may read all transitions for one page. */
const transitionOf = (days: string) => `CROSS JOIN LATERAL (SELECT * FROM herald.transitions
  WHERE created_at = d.created_at AND id = d.transition_id AND ${days} LIMIT 1) t`;
const within = (from: string, to: string, table = '') => `${table}created_at >= ${from} AND ${table}created_at < ${to}`;

const deliveriesWithin = (attempts: string, from: string, to: string) =>
  `SELECT ${COLUMNS}, ${attempts} FROM herald.deliveries d ${transitionOf(within(from, to))} WHERE ${within(from, to, 'd.')}`;

/** $1: id of a delivery   $2: from   $3: to */
export const FIND_OWNER = `SELECT workspace_id FROM herald.deliveries WHERE id = $1 AND ${within('$2', '$3')} LIMIT 1`;

/** $1: id of a Task   $2: from   $3: to */
export const FIND_OWNER_OF_TASK = `SELECT workspace_id FROM herald.deliveries
  WHERE task_id = $1 AND ${within('$2', '$3')} LIMIT 1`;

// By these it is found in which days something is. Then only those are read with their transitions.
/** $1: id of a delivery   $2: its workspace   $3: from   $4: to */
export const TIMES_OF_DELIVERY = `SELECT created_at FROM herald.deliveries
  WHERE id = $1 AND workspace_id = $2 AND ${within('$3', '$4')}`;
/** $1: workspace   $2: Task   $3: from   $4: to. `table` is the whole one, or a day's that can't be read through it. */
export const timesOfTask = (table: string) => `SELECT created_at FROM herald.${table}
  WHERE task_id = $2 AND workspace_id = $1 AND ${within('$3', '$4')}`;
export const TIMES_OF_TASK = timesOfTask('deliveries');

/** $1: id of a delivery   $2: its workspace   $3: from   $4: to */
export const FIND_DELIVERY = `${deliveriesWithin(ALL_ATTEMPTS, '$3', '$4')} AND d.id = $1 AND d.workspace_id = $2`;

/** $1: created_at of a transition   $2: its id   $3: workspace. With the endpoints of its deliveries. */
export const FIND_TRANSITION = `SELECT t.body, t.request_id, t.traceparent, d.endpoint_id FROM herald.transitions t
  JOIN herald.deliveries d ON d.workspace_id = $3 AND d.created_at = t.created_at AND d.transition_id = t.id
  WHERE t.created_at = $1 AND t.id = $2 AND d.created_at = $1 ORDER BY d.id`;

/** Whose deliveries: those of the workspace $1, or of its endpoint $2. */
const OF_WORKSPACE = 'd.workspace_id = $1 AND $2::text IS NULL';
const OF_ENDPOINT = 'd.endpoint_id = $2 AND d.workspace_id = $1';
/** Those of either with a status that isn't "delivered". */
const undelivered = (status: string) => `d.workspace_id = $1 AND ($2::text IS NULL OR d.endpoint_id = $2)
  AND d.status <> 'delivered' AND d.status = ${status}`;

/** $3, $4: the list goes on after this place   $5, $6: and no further than to this one */
const STRETCH = `d.created_at <= $3 AND (d.created_at, d.id) < ($3, $4)
  AND d.created_at >= $5 AND (d.created_at, d.id) >= ($5, $6)`;
const NEWEST_FIRST = 'ORDER BY d.created_at DESC, d.id DESC';

/** The page first, and then the transitions of its deliveries. */
const pageOf = (attempts: string, condition: string, days: string, order: string, limit: string) =>
  `SELECT ${COLUMNS}, ${attempts} FROM (SELECT * FROM herald.deliveries d WHERE ${condition} ${order} LIMIT ${limit}) d
  ${transitionOf(days)} ${order}`;

const inList = (owner: string) =>
  `${owner} AND ${STRETCH} AND ($7::text IS NULL OR d.status = $7) AND ($8::text IS NULL OR d.event = $8)`;
const listOf = (owner: string) =>
  pageOf(LAST_ATTEMPT, inList(owner), 'created_at >= $5 AND created_at <= $3', NEWEST_FIRST, '$9');
const timesOf = (owner: string) =>
  `SELECT d.created_at FROM herald.deliveries d WHERE ${inList(owner)} ${NEWEST_FIRST} LIMIT $9`;
const edgeOf = (owner: string) =>
  `SELECT d.created_at, d.id FROM herald.deliveries d WHERE ${owner} AND ${STRETCH} ${NEWEST_FIRST} OFFSET $7 LIMIT 1`;

/** $7: status or null   $8: event or null   $9: how many */
export const LIST_DELIVERIES = {
  workspace: listOf(OF_WORKSPACE),
  endpoint: listOf(OF_ENDPOINT),
  undelivered: listOf(undelivered('$7')),
};
/** The same, and only when they were accepted. */
export const TIMES_OF_DELIVERIES = {
  workspace: timesOf(OF_WORKSPACE),
  endpoint: timesOf(OF_ENDPOINT),
  undelivered: timesOf(undelivered('$7')),
};
/** $7: how many to look at   $8: only of `undelivered`: status. The place of the one after them; no row: there are no more. */
export const FIND_EDGE = {
  workspace: edgeOf(OF_WORKSPACE),
  endpoint: edgeOf(OF_ENDPOINT),
  undelivered: edgeOf(undelivered('$8')),
};

/** $1: workspace   $2: endpoint   $3, $4: the list goes on behind this place   $5: until, exclusive   $6: how many */
export const LIST_OLDEST_FIRST = pageOf(
  ALL_ATTEMPTS,
  `${OF_ENDPOINT} AND d.created_at >= $3 AND (d.created_at, d.id) > ($3, $4) AND d.created_at < $5`,
  within('$3', '$5'),
  'ORDER BY d.created_at, d.id',
  '$6',
);

/** $1: workspace   $2: endpoint   $3: from   $4: to   $5: at most so many */
export const COUNT_DELIVERIES = `SELECT count(*) FROM (SELECT 1 FROM herald.deliveries d WHERE ${OF_ENDPOINT}
  AND ${within('$3', '$4', 'd.')} LIMIT $5) counted`;

/**
 * $1: workspace   $2: Task   $3: from   $4: to. The transitions of the Task in their order; the sequence of one whose body
 * was erased before it came is unknown.
 */
export const LIST_TRANSITIONS = `SELECT DISTINCT d.created_at, t.sequence, d.transition_id FROM herald.deliveries d
  ${transitionOf(within('$3', '$4'))} WHERE d.task_id = $2 AND d.workspace_id = $1 AND ${within('$3', '$4', 'd.')}
  ORDER BY d.created_at, t.sequence NULLS LAST, d.transition_id`;

/** $1: workspace   $2: Task   $3: ids of transitions   $4: from   $5: to */
export const LIST_OF_TRANSITIONS = `${deliveriesWithin(LAST_ATTEMPT, '$4', '$5')} AND d.task_id = $2 AND d.workspace_id = $1
  AND d.transition_id = ANY ($3::bytea[])`;

// Erasing. `table` is the whole table, or that of a day which can't be read through it. Each statement says from when to
// when, too: joined with what is given, every day would be searched for every row.

/** $1: workspace   $2: Task   $3: from   $4: to. Its deliveries, with what endpoints answered. */
export const readErasable = (table: string) =>
  `SELECT created_at, id, transition_id, attempts FROM herald.${table}
  WHERE task_id = $2 AND workspace_id = $1 AND ${within('$3', '$4')}`;

/** $1: workspace   $2: at most so many   $3: from   $4: to. Its Tasks with transitions that are not erased, in no order. */
export const LIST_UNERASED = `SELECT DISTINCT d.task_id FROM herald.deliveries d
  JOIN herald.transitions t ON t.created_at = d.created_at AND t.id = d.transition_id
  WHERE d.workspace_id = $1 AND d.task_id IS NOT NULL AND t.erased_at IS NULL
  AND ${within('$3', '$4', 'd.')} AND ${within('$3', '$4', 't.')} LIMIT $2`;

/** $1: from   $2: to   $3: times of acceptance   $4: ids of deliveries   $5: their attempts without what was answered */
export const writeAttempts = (table: string) => `UPDATE herald.${table} d SET attempts = given.attempts
  FROM unnest($3::bigint[], $4::bytea[], $5::text[]) AS given (created_at, id, attempts)
  WHERE d.created_at = given.created_at AND d.id = given.id AND ${within('$1', '$2', 'd.')}`;

/**
 * $1: from   $2: to   $3: times of acceptance   $4: ids of transitions   $5: when they were erased. Those erased
 * before keep their time, and are not written again. Returns when each was erased.
 */
export const eraseTransitions = (table: string) => `WITH
  given AS (SELECT DISTINCT created_at, id FROM unnest($3::bigint[], $4::bytea[]) AS each (created_at, id)),
  erased AS (UPDATE herald.${table} t SET body = NULL, erased_at = coalesce(t.erased_at, $5) FROM given
    WHERE t.created_at = given.created_at AND t.id = given.id AND ${within('$1', '$2', 't.')}
    AND (t.erased_at IS NULL OR t.body IS NOT NULL))
  SELECT coalesce(t.erased_at, $5) AS erased_at FROM herald.${table} t
  JOIN given ON t.created_at = given.created_at AND t.id = given.id WHERE ${within('$1', '$2', 't.')}`;

// The audit trail.

/** Entries that are here already stay as they are. $1: id[]   $2: by[]   $3: workspace_id[]   $4: entry[], as JSON */
export const INSERT_AUDIT = `
INSERT INTO herald.audit (id, by, workspace_id, entry)
SELECT id, by, workspace_id, entry::jsonb
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS given (id, by, workspace_id, entry)
ON CONFLICT (id) DO NOTHING`;

/**
 * Newest first. $1: workspace or null: all   $2: by or null: anybody   $3: before this id   $4: from this id on
 * $5: limit
 */
export const LIST_AUDIT = `
SELECT entry FROM herald.audit
WHERE ($1::text IS NULL OR workspace_id = $1) AND ($2::text IS NULL OR by = $2) AND id < $3 AND id >= $4
ORDER BY id DESC LIMIT $5`;

/** The oldest first. $1: before this id   $2: at most so many */
export const DELETE_AUDIT = `
DELETE FROM herald.audit WHERE id IN (SELECT id FROM herald.audit WHERE id < $1 ORDER BY id LIMIT $2)`;

// What the database is.

/** One row: whether it is a standby, and whether it takes no writes. */
const KIND = `pg_is_in_recovery() AS is_standby, current_setting('transaction_read_only') = 'on' AS is_read_only`;
export const READ_SERVER_KIND = `SELECT ${KIND}`;
/** One row: also the server's version, such as 150003, and by its own name; its encoding; its address, unless it has none. */
export const READ_SERVER = `
SELECT current_setting('server_version_num')::integer AS number, current_setting('server_version') AS name,
  current_setting('server_encoding') AS encoding, ${KIND},
  host(inet_server_addr()) || ':' || inet_server_port() AS address`;

/** $1: name of a schema. One row when it exists. */
export const FIND_SCHEMA = 'SELECT oid FROM pg_namespace WHERE nspname = $1';

/** $1: schema. Names of its tables, without partitions. */
export const LIST_TABLES = `
SELECT relname AS name FROM pg_class
WHERE relnamespace = to_regnamespace($1) AND relkind IN ('r', 'p', 'v') AND NOT relispartition`;

/** Migrations that ran, the first first. */
export const LIST_MIGRATIONS = 'SELECT name FROM herald.migrations ORDER BY run_on, id';

/** One row: what this user may do. */
export const READ_RIGHTS = `
SELECT bool_and(has_table_privilege(name, 'SELECT')) AS reads,
  bool_and(has_table_privilege(name, 'INSERT')) AND bool_and(has_table_privilege(name, removes)) AS writes,
  pg_has_role((SELECT relowner FROM pg_class WHERE oid = 'herald.deliveries'::regclass), 'USAGE')
    AND has_schema_privilege('herald', 'CREATE') AS makes_partitions
FROM (VALUES ('herald.deliveries', 'UPDATE'), ('herald.transitions', 'UPDATE'), ('herald.audit', 'DELETE'))
  AS needed (name, removes)`;

/** One row: which history this is, and of which data. */
export const READ_INSTALLATION = 'SELECT id, data_id FROM herald.installation';
/** $1: id of the data. Takes a history that is of none yet. */
export const CLAIM_INSTALLATION = 'UPDATE herald.installation SET data_id = $1 WHERE data_id IS NULL';
/** $1: how long days are to be kept, in ms. Less than half of what they were kept so far isn't taken over. */
export const AGREE_ON_RETENTION = `UPDATE herald.installation SET retention_ms = $1
  WHERE retention_ms IS DISTINCT FROM $1 AND (retention_ms IS NULL OR $1 * 2 >= retention_ms)`;
/** $1: how long days are to be kept, in ms, however long they were. */
export const SET_RETENTION = 'UPDATE herald.installation SET retention_ms = $1';
/** One row: how long days are kept, and the time, in ms. */
export const READ_RETENTION = `SELECT retention_ms, (extract(epoch FROM now()) * 1000)::bigint AS now_ms
  FROM herald.installation`;
/** One row: which history this is, and when a worker last looked at it and Redis, by the clock of Redis. */
export const READ_SEEN = 'SELECT id, seen_ms FROM herald.installation';
/** $1: now, epoch ms */
export const NOTE_SEEN = 'UPDATE herald.installation SET seen_ms = $1';
/** $1: id of the data. Takes a history from other data. */
export const ADOPT_INSTALLATION = 'UPDATE herald.installation SET data_id = $1 RETURNING id';
