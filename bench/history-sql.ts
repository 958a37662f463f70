/** Of each transition the time of its acceptance. $1: deliveries   $2: time of the first   $3: ms in which they spread */
const TIMES = '$2::bigint + transition * 10 * $3::bigint / $1::bigint';
const TRANSITIONS = 'FROM generate_series(0, $1::bigint / 10 - 1) AS transition';

/** Ten deliveries of a transition, ten transitions of a Task, a hundred receivers of ten workspaces. */
export const FILL_DELIVERIES = `
INSERT INTO herald.deliveries (created_at, settled_at, changed_at, tries, is_released, id, transition_id, endpoint_id,
  workspace_id, task_id, event, status, attempts)
SELECT at, at, at, 1, false, substring(sha256(n::text::bytea) for 20),
  substring(sha256(transition::text::bytea) for 20), 'wh_' || lpad((n % 100)::text, 26, '0'), 'ws_' || n % 10,
  'task_' || lpad((transition / 10)::text, 26, '0'), 'task.check_in', 'delivered',
  '[{"at":1764000000000,"durationMs":12.3,"status":200,"answer":"ok","h":{"t":"text/plain"}}]'
${TRANSITIONS}, LATERAL (SELECT ${TIMES} AS at) AS time,
  generate_series(transition * 10, transition * 10 + 9) AS n`;

export const FILL_TRANSITIONS = `
INSERT INTO herald.transitions (created_at, sequence, id, body)
SELECT ${TIMES}, 1, substring(sha256(transition::text::bytea) for 20), '{"event":"task.check_in"}' ${TRANSITIONS}`;
