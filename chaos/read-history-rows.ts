import { toDeliveryId, toTransitionId } from '@herald/history/reading/delivery-row';
import type { HistoryPool } from '@herald/history/pool/create-history-pool';
import type { DeliveryRecord, LoggedAttempt } from './read-records.ts';

/** A delivery in PostgreSQL. */
export type HistoryRow = DeliveryRecord & {
  /** The bytes that are sent, as UTF-8; null: they, or all of its transition, are not there. */
  readonly body: string | null;
};

type Row = {
  id: Buffer;
  endpoint_id: string;
  transition_id: Buffer;
  status: string;
  reason: string | null;
  tries: number;
  created_at: number;
  settled_at: number;
  attempts: string;
  body: string | null;
};

const READ_ALL = `SELECT d.id, d.endpoint_id, d.transition_id, d.status, d.reason, d.tries, d.created_at, d.settled_at,
  d.attempts, t.body
FROM herald.deliveries d
LEFT JOIN herald.transitions t ON t.created_at = d.created_at AND t.id = d.transition_id`;

/** Every row, also several of one delivery. */
export async function readHistoryRows(pool: Pick<HistoryPool, 'query'>): Promise<HistoryRow[]> {
  return (await pool.query<Row>(READ_ALL)).rows.map(toHistoryRow);
}

function toHistoryRow(row: Row): HistoryRow {
  return {
    id: toDeliveryId(row.id),
    endpointId: row.endpoint_id,
    transitionId: toTransitionId(row.transition_id),
    status: row.status,
    ...(row.reason !== null && { reason: row.reason }),
    tries: row.tries,
    createdAt: row.created_at,
    settledAt: row.settled_at,
    attempts: JSON.parse(row.attempts) as LoggedAttempt[],
    isCarried: false,
    body: row.body,
  };
}
