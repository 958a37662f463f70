import { inTransaction, type HistoryPool } from '../pool/create-history-pool.ts';
import { NOTE_SEEN, READ_SEEN, TRY_LOCK_FOR_TENDING } from '../sql/history-sql.ts';

/**
 * What Redis knows of the last look: of which history, and its time, epoch ms. `before` is that of the look before it, which
 * PostgreSQL still has when the process ended between the two writes.
 */
export type SeenHistory = { readonly id: string; readonly before: number; readonly last: number };

/** One of the two is of an earlier time than the other: `from` is its time and `to` that of the other, epoch ms. */
export type Restored = { readonly older: 'history' | 'redis'; readonly from: number; readonly to: number };

export type FindRestoredDeps = {
  readonly pool: HistoryPool;
  readonly readSeen: () => Promise<SeenHistory | undefined>;
  readonly noteSeen: (seen: SeenHistory) => Promise<void>;
};

const LIMITS = { statementMs: 5_000 };

/**
 * Whether PostgreSQL or Redis was restored from a backup since the last look. It notes the time in both, and so tells each
 * restore once. Undefined also when another process is at it.
 */
export const findRestored = (
  { pool, readSeen, noteSeen }: FindRestoredDeps,
  nowMs: number,
): Promise<Restored | undefined> =>
  inTransaction(pool, LIMITS, async (client) => {
    const { rows: locks } = await client.query<{ mine: boolean }>(TRY_LOCK_FOR_TENDING);
    if (!locks[0]?.mine) return undefined;
    const { rows } = await client.query<{ id: string; seen_ms: number | null }>(READ_SEEN);
    const { id = '', seen_ms } = rows[0] ?? {};
    const theirs = seen_ms ?? 0;
    const seen = await readSeen();
    // A history that was adopted knows nothing of this Redis.
    const known = seen?.id === id ? seen : undefined;
    const last = Math.max(nowMs, theirs + 1, (known?.last ?? 0) + 1);
    // Redis first: PostgreSQL then has either of its two times.
    await noteSeen({ id, before: theirs, last });
    await client.query(NOTE_SEEN, [last]);
    return known && judgeSeen(known, theirs);
  });

/** @param theirs what PostgreSQL has; 0: nothing */
export function judgeSeen({ before, last }: SeenHistory, theirs: number): Restored | undefined {
  if (theirs < before) return { older: 'history', from: theirs, to: last };
  if (theirs > last) return { older: 'redis', from: last, to: theirs };
  return undefined;
}
