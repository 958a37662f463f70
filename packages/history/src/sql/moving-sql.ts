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
