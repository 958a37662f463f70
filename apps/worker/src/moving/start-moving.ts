import { judgeHistoryError } from '@herald/history/errors/history-errors';
import { createAuditFollower } from '@herald/store/access/audit-trail';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { shortenRetention } from '@herald/store/bulk/drop-deliveries';
import { createMoveStore } from '@herald/store/bulk/move-store';
import { randomToken } from '@herald/store/redis/random-token';
import type { ShardKeys } from '@herald/store/keys/keys';
import { copyEntries } from '../audit/follow-trail.ts';
import type { WorkerContext } from '../context.ts';
import { startMaintenance } from '../maintenance.ts';
import { moveSettled } from './move-settled.ts';

const MOVE_EVERY_MS = 1_000;
/** Of a worker without a history: what waits for one that was turned off. */
const EXPIRE_EVERY_MS = 5_000;
const EXPIRE_BATCH = 200;
/** Partitions are made days ahead. Whoever reads a day delays its drop until the next round. */
const TEND_EVERY_MS = 20_000;

type MovingContext = Pick<
  WorkerContext,
  'config' | 'history' | 'keyspace' | 'logger' | 'metrics' | 'now' | 'redis' | 'resources'
>;

/** Moves what settles in a shard to the history, or lets it expire when there is none. The audit trail is copied. */
export function startMoving(context: MovingContext, keys: ShardKeys) {
  const { config, history, logger, metrics, redis, now } = context;
  const moves = createMoveStore({ redis, keys, now });
  const trail = createAuditFollower({ redis, keys });
  const random = Math.random;
  const maintain = (everyMs: number, routine: () => Promise<unknown>) =>
    startMaintenance({ routine, everyMs, metrics: metrics.internalErrors, logger, random });
  if (!history) {
    return maintain(EXPIRE_EVERY_MS, async () => {
      while ((await moves.expire(config.retentionMs, EXPIRE_BATCH)) === EXPIRE_BATCH);
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
  const { config, history, keyspace, logger, metrics, now, redis, resources } = context;
  if (history) return;
  const retention = createDeliveryRetention(config.retentionMs);
  // Once: another worker may have a longer retention, while all are being restarted.
  let isShortened = false;
  const routine = async (): Promise<void> => {
    if (isShortened) return;
    const shortened = await shortenRetention({ redis, keyspace, retention, now });
    isShortened = true;
    if (shortened > 0) logger.info('retention.shortened', { deliveries: shortened });
  };
  const deps = { routine, everyMs: EXPIRE_EVERY_MS, metrics: metrics.internalErrors, logger, random: Math.random };
  resources.add('shortening', startMaintenance(deps).stop);
}

/** Makes the days to come, and drops those, and entries of the audit trail, that are too old. */
export function startTendingDays({ history, logger, metrics, now, resources }: MovingContext): void {
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
  const deps = { routine: tend, everyMs: TEND_EVERY_MS, metrics: metrics.internalErrors, logger, random: Math.random };
  const tending = startMaintenance(deps);
  resources.add('history days', async () => {
    isStopping = true;
    await Promise.all([first, tending.stop()]);
  });
}
