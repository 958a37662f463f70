import { createAuditFollower } from '@herald/store/audit/audit-follower';
import { createMoveStore } from '@herald/store/moving/move-store';
import { randomToken } from '@herald/store/redis/random-token';
import type { ShardKeys } from '@herald/store/keyspace/keys';
import { copyEntries } from '../audit/follow-trail.ts';
import type { WorkerContext } from '../context.ts';
import { startMaintenance } from '../maintenance/start-maintenance.ts';
import { moveSettled } from './move-settled.ts';

const MOVE_EVERY_MS = 1_000;
/** Of a worker without a history: what waits for one that was turned off. */
const EXPIRE_EVERY_MS = 30_000;
const EXPIRE_BATCH = 200;
/** Partitions are made days ahead, and dropped a day late at most. */
const TEND_EVERY_MS = 600_000;

type MovingContext = Pick<WorkerContext, 'config' | 'history' | 'logger' | 'metrics' | 'now' | 'redis' | 'resources'>;

/** Moves what settles in a shard to the history, or lets it expire when there is none. The audit trail is copied. */
export function startMoving(context: MovingContext, keys: ShardKeys) {
  const { config, history, logger, metrics, redis, now } = context;
  const moves = createMoveStore({ redis, keys });
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
  const moving = maintain(MOVE_EVERY_MS, async () => {
    try {
      await history.prepare();
      await moveSettled({
        moves,
        history: history.writer,
        mover,
        retentionMs: config.retentionMs,
        isStopping: () => isStopping,
        report: {
          moved: history.metrics.moved,
          damaged: (ids) => {
            history.metrics.damaged(ids.length);
            logger.error('history.damaged_record', { deliveryIds: ids.join(',') });
          },
        },
        now,
      });
      await copyEntries(trail, history.audit);
      history.state.worked();
    } catch (error) {
      history.state.failed(error);
    }
  });
  return {
    stop: async (): Promise<void> => {
      isStopping = true;
      await moving.stop();
    },
  };
}

/** Makes the days to come, and drops those, and entries of the audit trail, that are too old. */
export function startTendingDays({ history, logger, metrics, now, resources }: MovingContext): void {
  if (!history) return;
  let isStopping = false;
  const tend = async () => {
    await history.prepare();
    await history.partitions.ensureAhead(now());
    const oldest = now() - history.retentionMs;
    const dropped = await history.partitions.dropBefore(oldest);
    await history.audit.deleteBefore(oldest, () => isStopping);
    if (dropped.length > 0) logger.info('history.days_dropped', { partitions: dropped.join(',') });
  };
  const routine = () =>
    tend().catch((error: unknown) => {
      history.state.failed(error);
    });
  const first = routine();
  const deps = { routine, everyMs: TEND_EVERY_MS, metrics: metrics.internalErrors, logger, random: Math.random };
  const tending = startMaintenance(deps);
  resources.add('history days', async () => {
    isStopping = true;
    await Promise.all([first, tending.stop()]);
  });
}
