import type { Partitions } from '@herald/history/partitions/partitions';
import { createHistoryReader } from '@herald/history/reading/create-history-reader';
import type { HistoryPool } from '@herald/history/pool/create-history-pool';
import { FILL_DELIVERIES, FILL_TRANSITIONS } from './history-sql.ts';

const DAY_MS = 86_400_000;
const DAYS = 30;
/** Reads of each kind, each of another receiver. */
const READS = 50;
/** A page of 50, and one more that tells whether there are more. */
const PAGE = 51;
const LIMIT_MS = 60_000;

/** The slowest read of each kind, in ms. */
export type PageTimes = Readonly<Record<'first' | 'deep' | 'filtered' | 'details' | 'task', number>>;

/** How long it takes to read something among `count` deliveries of 30 days. */
export async function measureHistoryPage(pool: HistoryPool, partitions: Partitions, count: number): Promise<PageTimes> {
  const today = Math.floor(Date.now() / DAY_MS);
  await partitions.ensure(Array.from({ length: DAYS }, (_, index) => today - DAYS + index));
  const values = [count, (today - DAYS) * DAY_MS, DAYS * DAY_MS];
  await pool.query(FILL_TRANSITIONS, values);
  await pool.query(FILL_DELIVERIES, values);
  await pool.query('VACUUM ANALYZE herald.deliveries, herald.transitions');
  const reader = createHistoryReader({ pool, limitMs: LIMIT_MS, onUnavailable: () => undefined });

  const times = { first: 0, deep: 0, filtered: 0, details: 0, task: 0 };
  const time = async <T>(kind: keyof PageTimes, work: () => Promise<T>, isRight: (result: T) => boolean) => {
    const startedAt = performance.now();
    const result = await work();
    times[kind] = Math.max(times[kind], performance.now() - startedAt);
    if (!isRight(result)) throw new Error(`a read of the kind ${kind} found something else`);
    return result;
  };
  for (let index = 0; index < READS; index++) {
    const workspaceId = `ws_${index % 10}`;
    const of = { workspaceId, endpointId: `wh_${String(index).padStart(26, '0')}`, limit: PAGE };
    const isFull = ({ found }: { readonly found: readonly unknown[] }) => found.length === PAGE;
    const { found } = await time('first', () => reader.list(of), isFull);
    const until = (today - DAYS / 2) * DAY_MS;
    await time('deep', () => reader.list({ ...of, until }), isFull);
    await time(
      'filtered',
      () => reader.list({ ...of, status: 'failed' }),
      (page) => page.found.length === 0,
    );
    const delivery = found[0]?.delivery;
    if (!delivery) throw new Error('a page is empty');
    const isFound = (result: unknown) => result !== undefined;
    await time('details', () => reader.find(workspaceId, delivery.id), isFound);
    await time(
      'task',
      () => reader.listSequences(workspaceId, delivery.taskId ?? '', 20),
      (each) => each.length === 10,
    );
  }
  return times;
}
