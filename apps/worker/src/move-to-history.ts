import { type HistoryFault, judgeHistoryError } from '@herald/history/errors/history-errors';
import type { HistoryWriter } from '@herald/history/writing/history-writer';
import { createAuditFollower } from '@herald/store/access/audit-trail';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { shortenRetention } from '@herald/store/bulk/drop-deliveries';
import type { ShardKeys } from '@herald/store/keys/keys';
import { createMoveStore, type MoveStore, type SettledBatch } from '@herald/store/bulk/move-store';
import { randomToken } from '@herald/store/redis/random-token';
import type { WorkerContext } from './context.ts';
import { copyEntries, startMaintenance } from './maintenance.ts';

const MOVE_EVERY_MS = 1_000;
/** Of a worker without a history: what waits for one that was turned off. */
const EXPIRE_EVERY_MS = 5_000;
const EXPIRE_BATCH = 200;
/** Partitions are made days ahead. Whoever reads a day delays its drop until the next round. */
const TEND_EVERY_MS = 20_000;

type MovingContext = Pick<
  WorkerContext,
  'config' | 'history' | 'keyspace' | 'logger' | 'now' | 'onFailed' | 'redis' | 'resources'
>;

/** Moves what settles in a shard to the history, or lets it expire when there is none. The audit trail is copied. */
export function startMoving(context: MovingContext, keys: ShardKeys) {
  const { config, history, logger, redis, now, onFailed } = context;
  const moves = createMoveStore({ redis, keys, now });
  const trail = createAuditFollower({ redis, keys });
  const random = Math.random;
  const maintain = (everyMs: number, routine: () => Promise<unknown>) =>
    startMaintenance({ routine, everyMs, onFailed, random });
  if (!history) {
    return maintain(EXPIRE_EVERY_MS, async () => {
      for (let expired = 0; ;) {
        const count = (await moves.expire(config.retentionMs, EXPIRE_BATCH)) ?? 0;
        expired += count;
        if (count < EXPIRE_BATCH) return expired;
      }
    });
  }
  let isStopping = false;
  const mover = randomToken();
  const report = {
    moved: history.metrics.moved,
    setAside: (ids: readonly string[], error?: unknown) => {
      history.metrics.damaged(ids.length);
      logger.error('history.damaged_record', { deliveryIds: ids.join(',') }, error);
    },
  };
  const moving = maintain(MOVE_EVERY_MS, () =>
    history.attempt(keys.prefix, async () => {
      await moveSettled({
        moves,
        history: history.writer,
        judge: judgeHistoryError,
        mover,
        retentionMs: config.retentionMs,
        isStopping: () => isStopping,
        report,
        now,
      });
      await copyEntries(trail, history.audit);
    }),
  );
  return {
    stop: async (): Promise<void> => {
      isStopping = true;
      await moving.stop();
    },
  };
}

/** Lets what settled under a longer RETENTION leave as early as under this one. It walks all shards. */
export function startShortening(context: MovingContext): void {
  const { config, history, keyspace, logger, now, onFailed, redis, resources } = context;
  if (history) return;
  const retention = createDeliveryRetention(config.retentionMs);
  // Once: another worker may have a longer retention, while all are being restarted.
  let isShortened = false;
  const routine = async (): Promise<number> => {
    if (isShortened) return 0;
    const shortened = await shortenRetention({ redis, keyspace, retention, now });
    isShortened = true;
    if (shortened > 0) logger.info('retention.shortened', { deliveries: shortened });
    return shortened;
  };
  const deps = { routine, everyMs: EXPIRE_EVERY_MS, onFailed, random: Math.random };
  resources.add('shortening', startMaintenance(deps).stop);
}

/** Makes the days to come, and drops those, and entries of the audit trail, that are too old. */
export function startTendingDays({ history, logger, now, onFailed, resources }: MovingContext): void {
  if (!history) return;
  let isStopping = false;
  const tend = () =>
    history.attempt('days', async () => {
      await history.lookForRestored();
      const retentionMs = await history.partitions.agreeOnRetention(history.retentionMs, now());
      history.state.keptFor(retentionMs, history.retentionMs);
      const oldest = now() - retentionMs;
      // First, since it makes room.
      const { dropped, failures } = await history.partitions.dropBefore(oldest);
      if (dropped.length > 0) logger.info('history.days_dropped', { partitions: dropped.join(',') });
      history.state.daysStay(await history.partitions.findOverdueMs(oldest), failures[0]);
      await history.partitions.ensureAhead(now());
      await history.partitions.indexDays();
      await history.audit.deleteBefore(oldest, () => isStopping);
    });
  const first = tend();
  const tending = startMaintenance({ routine: tend, everyMs: TEND_EVERY_MS, onFailed, random: Math.random });
  resources.add('history days', async () => {
    isStopping = true;
    await Promise.all([first, tending.stop()]);
  });
}

export type MoveSettledDeps = {
  readonly moves: MoveStore;
  readonly history: Pick<HistoryWriter, 'write'>;
  /** Whose fault it is that a batch wasn't written. */
  readonly judge: (error: unknown) => HistoryFault;
  /** Names this worker in the lease of the shard. */
  readonly mover: string;
  /** How long a settled delivery stays in Redis, in ms. */
  readonly retentionMs: number;
  readonly isStopping: () => boolean;
  readonly report: {
    readonly moved: (deliveries: number) => void;
    /** They were set aside. `error`: why; undefined: they can't be read. */
    readonly setAside: (ids: SettledBatch['damaged'], error?: unknown) => void;
  };
  readonly now: () => number;
};

/**
 * Deliveries that move together. A batch holds up Redis and this process: 200 raised the 99th percentile of deliveries at
 * 500/s from 3 to 26 ms, 20 to 3.4 ms.
 */
const SETTLED_BATCH = 20;
/**
 * Of what should have moved so long ago, in ms, each batch is twice the one before, up to the largest. A batch takes
 * seven round trips and a commit, however small it is: while PostgreSQL or the processors are slow, 20 don't keep up.
 */
const BEHIND_MS = 30_000;
const LARGEST_BATCH = 100;

/**
 * Moves what settled long enough ago: insert, commit, then delete from Redis what hasn't changed since it was read. A
 * crash at any step repeats the batch, which changes nothing twice. Of a batch of which a row can't be written, each moves
 * by itself, and that one is set aside.
 * @returns deliveries that left Redis
 */
export async function moveSettled(deps: MoveSettledDeps): Promise<number> {
  const { moves, history, judge, mover, retentionMs, isStopping, report, now } = deps;
  const setAside = async (ids: SettledBatch['damaged'], error?: unknown) => {
    if (ids.length === 0) return;
    await moves.setAside(ids, now());
    report.setAside(ids, error);
  };
  let alone = 0;
  let hadBug = false;
  let together = SETTLED_BATCH;
  let total = 0;
  if (!(await moves.isDue(now() - retentionMs, now()))) return total;
  while (!isStopping()) {
    const settledUntil = now() - retentionMs;
    const limit = alone > 0 ? 1 : together;
    let batch: SettledBatch | undefined;
    try {
      await history.write(async () => (batch = await moves.take(mover, settledUntil, limit, now())));
    } catch (error) {
      const fault = batch && judge(error);
      if (!batch || (fault !== 'row' && fault !== 'bug')) throw error;
      const ids = batch.deliveries.map(({ delivery }) => delivery.id);
      if (limit === 1) await setAside(ids, error);
      // A bug that the next one meets, too, is of no row.
      if (limit === 1 && fault === 'bug' && hadBug) throw error;
      hadBug = limit === 1 && fault === 'bug';
      alone = limit === 1 ? alone - 1 : limit;
      continue;
    }
    if (!batch) return total;
    hadBug = false;
    alone = Math.max(0, alone - 1);
    await setAside(batch.damaged);
    const forgotten = batch.deliveries.length > 0 ? await moves.forget(batch) : 0;
    report.moved(forgotten);
    total += forgotten;
    // What changed while it was written moves in another round.
    const goesOn = batch.looked === limit && (forgotten > 0 || batch.deliveries.length === 0);
    if (!goesOn) return total;
    const oldest = Number(batch.deliveries[0]?.score ?? settledUntil);
    together = oldest < settledUntil - BEHIND_MS ? Math.min(2 * together, LARGEST_BATCH) : SETTLED_BATCH;
  }
  return total;
}
