/** What is read of a delivery, with what its transition adds. */
const COLUMNS = `d.id, d.workspace_id, d.endpoint_id, d.transition_id, d.task_id, d.event, d.status, d.reason, d.created_at,
  d.scheduled_at, d.settled_at, d.tries, d.place, d.is_released, d.attempts, t.sample_of, t.erased_at`;

/** One by one, in the partition of its day. Joined at once, PostgreSQL may read all transitions for one page. */
const TRANSITION = `CROSS JOIN LATERAL (SELECT * FROM herald.transitions
  WHERE created_at = d.created_at AND id = d.transition_id LIMIT 1) t`;

const DELIVERIES = `SELECT ${COLUMNS} FROM herald.deliveries d ${TRANSITION}`;

/** $1: id of a delivery. */
export const FIND_OWNER = 'SELECT workspace_id FROM herald.deliveries WHERE id = $1 LIMIT 1';

/** $1: id of a Task. */
export const FIND_OWNER_OF_TASK = 'SELECT workspace_id FROM herald.deliveries WHERE task_id = $1 LIMIT 1';

/** $1: id of a delivery   $2: its workspace */
export const FIND_DELIVERY = `${DELIVERIES} WHERE d.id = $1 AND d.workspace_id = $2`;

/** $1: created_at of a transition   $2: its id   $3: workspace. With the endpoints of its deliveries. */
export const FIND_TRANSITION = `SELECT t.body, t.request_id, t.traceparent, d.endpoint_id FROM herald.transitions t
  JOIN herald.deliveries d ON d.workspace_id = $3 AND d.created_at = t.created_at AND d.transition_id = t.id
  WHERE t.created_at = $1 AND t.id = $2 ORDER BY d.id`;

/** Whose deliveries: those of the workspace $1, or of its endpoint $2. */
const OF_WORKSPACE = 'd.workspace_id = $1 AND $2::text IS NULL';
const OF_ENDPOINT = 'd.endpoint_id = $2 AND d.workspace_id = $1';

/** $3, $4: the list goes on after this place   $5, $6: and no further than to this one */
const STRETCH = `d.created_at <= $3 AND (d.created_at, d.id) < ($3, $4)
  AND d.created_at >= $5 AND (d.created_at, d.id) >= ($5, $6)`;
const NEWEST_FIRST = 'ORDER BY d.created_at DESC, d.id DESC';

/** The page first, and then the transitions of its deliveries. */
const pageOf = (condition: string, order: string, limit: string) =>
  `SELECT ${COLUMNS} FROM (SELECT * FROM herald.deliveries d WHERE ${condition} ${order} LIMIT ${limit}) d
  ${TRANSITION} ${order}`;

const listOf = (owner: string) =>
  pageOf(
    `${owner} AND ${STRETCH} AND ($7::text IS NULL OR d.status = $7) AND ($8::text IS NULL OR d.event = $8)`,
    NEWEST_FIRST,
    '$9',
  );
const edgeOf = (owner: string) =>
  `SELECT d.created_at, d.id FROM herald.deliveries d WHERE ${owner} AND ${STRETCH} ${NEWEST_FIRST} OFFSET $7 LIMIT 1`;

/** $7: status or null   $8: event or null   $9: how many */
export const LIST_DELIVERIES = { workspace: listOf(OF_WORKSPACE), endpoint: listOf(OF_ENDPOINT) };
/** $7: how many to look at. The place of the one after them; no row when there are no more. */
export const FIND_EDGE = { workspace: edgeOf(OF_WORKSPACE), endpoint: edgeOf(OF_ENDPOINT) };

/** $1: workspace   $2: endpoint   $3, $4: the list goes on behind this place   $5: until, exclusive   $6: how many */
export const LIST_OLDEST_FIRST = pageOf(
  `${OF_ENDPOINT} AND d.created_at >= $3 AND (d.created_at, d.id) > ($3, $4) AND d.created_at < $5`,
  'ORDER BY d.created_at, d.id',
  '$6',
);

/** $1: workspace   $2: endpoint   $3: since   $4: until, exclusive   $5: at most so many */
export const COUNT_DELIVERIES = `SELECT count(*) FROM (SELECT 1 FROM herald.deliveries d WHERE ${OF_ENDPOINT}
  AND d.created_at >= $3 AND d.created_at < $4 LIMIT $5) counted`;

/**
 * $1: workspace   $2: Task   $3: before this place, or null   $4: how many. Each transition of the Task with its place:
 * the sequence of one whose body was erased before it came is unknown, so that they are counted.
 */
export const LIST_TRANSITIONS = `SELECT transition_id, place FROM (
    SELECT transition_id, row_number() OVER (ORDER BY created_at, sequence NULLS LAST, transition_id) AS place FROM (
      SELECT DISTINCT d.created_at, d.transition_id, t.sequence FROM herald.deliveries d ${TRANSITION}
      WHERE d.task_id = $2 AND d.workspace_id = $1) found) placed
  WHERE $3::bigint IS NULL OR place < $3 ORDER BY place DESC LIMIT $4`;

/** $1: workspace   $2: Task   $3: ids of transitions */
export const LIST_OF_TRANSITIONS = `${DELIVERIES} WHERE d.task_id = $2 AND d.workspace_id = $1
  AND d.transition_id = ANY ($3::bytea[]) ORDER BY d.id DESC`;
