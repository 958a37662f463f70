import { ConfigError } from '@herald/runtime/env/env';
import type { RedisClient } from '../redis/connect-redis.ts';
import { createKeyspace } from '../keyspace/keys.ts';
import { LAYOUT } from '../redis/layout.ts';
import { walkKeys } from '../redis/walk-keys.ts';
import type { FindAlive } from '../shards/find-alive.ts';
import { enqueuePending } from '../shards/enqueue-pending.ts';
import type { ShardRecord, ShardRecordStore } from '../shards/shard-record.ts';
import { isFormerKey } from './former-keys.ts';
import { takeOverBreakers, takeOverPauses } from './take-over-state.ts';

export type UpgradeDataDeps = {
  readonly redis: RedisClient;
  readonly records: Pick<ShardRecordStore, 'beginUpgrade' | 'dropUpgrade' | 'finishUpgrade'>;
  readonly findFormer: FindAlive;
  readonly onBegin: () => void;
  /** Epoch ms. */
  readonly now: () => number;
};

export type UpgradeReport = {
  /** Deliveries. */
  readonly enqueued: number;
  /** Keys of the former version, deleted. */
  readonly dropped: number;
};

/** Nothing has to be seen by replicas: what is lost with a master is taken over again. */
const awaitNothing = () => Promise.resolve();

/**
 * Takes the data of a former version over: pauses, breakers, and every delivery that has something to do. Says in Redis that it is under
 * way, so that no process of a former version starts. What the former version had is deleted at last; until then each step can be done again, and so
 * a run that is killed at any moment is completed by another.
 * @throws ConfigError when a process of a former version is alive
 */
export async function upgradeData(deps: UpgradeDataDeps, record: ShardRecord): Promise<UpgradeReport> {
  const { redis, records, findFormer, onBegin, now } = deps;
  refuseFormer(await findFormer());
  await records.beginUpgrade(LAYOUT);
  // One that started meanwhile saw nothing, and shows itself by now; one that starts from here on sees that it must not.
  const running = await findFormer();
  if (running.length > 0 && record.upgradingTo === undefined) await records.dropUpgrade();
  refuseFormer(running);
  onBegin();
  const keyspace = createKeyspace(record.count ?? 1);
  await takeOverPauses(redis, keyspace);
  await takeOverBreakers(redis, keyspace, now);
  const onProgress = () => undefined;
  const enqueued = await enqueuePending({ redis, keyspace, awaitCopies: awaitNothing, onProgress, now });
  // Release 0.1.0 looks for nothing before it starts. What it has written meanwhile is found by the next run.
  refuseFormer(await findFormer());
  const dropped = await dropFormerKeys(redis);
  await records.finishUpgrade(LAYOUT);
  return { enqueued, dropped };
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

function refuseFormer(running: readonly string[]): void {
  if (running.length === 0) return;
  throw new ConfigError(
    `A former version of Herald works on this Redis: ${running.join(', ')}. ` +
      'Stop every API and worker of it, and start this again: it then takes the data over.',
  );
}
