import { setTimeout as wait } from 'node:timers/promises';
import { ConfigError } from '@herald/runtime/env/env';
import type { Logger } from '@herald/runtime/log/logger';
import { createKeyspace } from '../keyspace/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { LAYOUT } from '../redis/layout.ts';
import { walkKeys } from '../redis/walk-keys.ts';
import { enqueuePending } from '../shards/enqueue-pending.ts';
import { createFindFormer } from '../shards/find-running.ts';
import type { ProcessPresence } from '../shards/process-presence.ts';
import type { ShardRecord, ShardRecordStore } from '../shards/shard-record.ts';
import { judgeNewer } from './find-layout-problem.ts';
import { hasFormerKeys, isFormerKey } from './former-keys.ts';
import { takeOverBreakers, takeOverPauses } from './take-over-state.ts';
import { takeUpgradeLease } from './upgrade-lease.ts';

const LOOK_EVERY_MS = 200;

export type TakeOverDataDeps = {
  readonly redis: RedisClient;
  readonly records: ShardRecordStore;
  readonly presence: ProcessPresence;
  readonly logger: Logger;
  /** Epoch ms. */
  readonly now: () => number;
};

/**
 * Resolves once the data has the layout of this version. One process takes the data of a former version over, and the
 * others wait. When that process dies, another goes on. The same happens after a rollback.
 * @throws ConfigError when the data is of a newer version, or a process of a former one is alive
 */
export async function takeOverData(deps: TakeOverDataDeps): Promise<void> {
  const { redis, records, logger } = deps;
  for (let isTold = false; ; isTold = true) {
    const record = await records.read();
    const newer = judgeNewer(record);
    if (newer) throw new ConfigError(newer.sentence);
    if (!(await isLeft(redis, record))) return;
    const lease = await takeUpgradeLease(redis);
    if (lease) {
      try {
        // Another process may have ended it in between.
        const found = await records.read();
        if (await isLeft(redis, found)) await takeOver(deps, found);
        return;
      } finally {
        await lease.release();
      }
    }
    if (!isTold) logger.info('upgrade.waits');
    await wait(LOOK_EVERY_MS);
  }
}

async function isLeft(redis: RedisClient, { layout, upgradingTo }: ShardRecord): Promise<boolean> {
  return layout !== LAYOUT || upgradingTo !== undefined || (await hasFormerKeys(redis));
}

/**
 * Takes over pauses, breakers, and every delivery that has something to do. The record says so meanwhile, and no
 * process of a former version starts. The keys of the former version are deleted last. Until then each step may be
 * repeated, so another run completes a killed one. Nothing waits for replicas: what is lost with a master is taken over
 * again.
 * @throws ConfigError when a process of a former version is alive
 */
async function takeOver({ redis, records, presence, logger, now }: TakeOverDataDeps, record: ShardRecord) {
  const onWatch = (processes: number, forMs: number) => {
    logger.info('upgrade.watches', { processes, forMs });
  };
  const findFormer = createFindFormer({ redis, presence, onWatch }, record.layout === undefined);
  refuseFormer(await findFormer());
  await records.beginUpgrade(LAYOUT);
  // A process that started meanwhile shows itself by now. One that starts from here on reads that it must not.
  const running = await findFormer();
  if (running.length > 0 && record.upgradingTo === undefined) await records.dropUpgrade();
  refuseFormer(running);
  const start = performance.now();
  logger.info('upgrade.began');
  const keyspace = createKeyspace(record.count ?? 1);
  await takeOverPauses(redis, keyspace);
  await takeOverBreakers(redis, keyspace, now);
  const enqueued = await enqueuePending({ redis, keyspace, now });
  // Release 0.1.0 starts without a look at the record. The next run finds what it has written meanwhile.
  refuseFormer(await findFormer());
  const dropped = await dropFormerKeys(redis);
  await records.finishUpgrade(LAYOUT);
  logger.info('upgrade.ended', { enqueued, dropped, tookMs: Math.round(performance.now() - start) });
}

function refuseFormer(running: readonly string[]): void {
  if (running.length === 0) return;
  throw new ConfigError(
    `A former version of Herald works on this Redis: ${running.join(', ')}. ` +
      'Stop every API and worker of it, and start this again: it then takes the data over.',
  );
}

async function dropFormerKeys(redis: RedisClient): Promise<number> {
  let dropped = 0;
  for await (const { names } of walkKeys(redis, '{*}:*')) {
    // One by one: on a cluster they lie in many slots.
    const counts = await Promise.all(names.filter(isFormerKey).map((name) => redis.unlink(name)));
    for (const count of counts) dropped += count;
  }
  return dropped;
}
