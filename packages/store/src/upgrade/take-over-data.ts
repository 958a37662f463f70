import { setTimeout as wait } from 'node:timers/promises';
import { ConfigError } from '@herald/runtime/env/env';
import type { RedisClient } from '../redis/connect-redis.ts';
import { LAYOUT } from '../redis/layout.ts';
import type { ProcessPresence } from '../shards/process-presence.ts';
import type { ShardRecord, ShardRecordStore } from '../shards/shard-record.ts';
import { createFindFormerProcesses } from './find-former-processes.ts';
import { judgeNewer } from './find-layout-problem.ts';
import { hasFormerKeys } from './former-keys.ts';
import { takeUpgradeLease } from './upgrade-lease.ts';
import { upgradeData, type UpgradeReport } from './upgrade-data.ts';

const LOOK_EVERY_MS = 200;

/** Tells operators of it. */
export type UpgradeEvents = {
  readonly began: () => void;
  readonly ended: (report: UpgradeReport & { readonly tookMs: number }) => void;
  /** Another process does it. */
  readonly waits: () => void;
  /** Signs of former processes that may be dead are watched for so long, in ms. */
  readonly watches: (processes: number, forMs: number) => void;
};

export type TakeOverDataDeps = {
  readonly redis: RedisClient;
  readonly records: ShardRecordStore;
  readonly presence: Pick<ProcessPresence, 'list'>;
  readonly events: UpgradeEvents;
  readonly goneAfterMs?: number;
  /** Epoch ms. */
  readonly now: () => number;
};

/**
 * Resolves once the data is laid out as this version does. One process takes over what a former version has left, the others wait; when
 * that one dies, another goes on. It is also taken over when a former version has worked here again, as after a rollback.
 * @throws ConfigError when the data is of a newer version, or a process of a former one is alive
 */
export async function takeOverData(deps: TakeOverDataDeps): Promise<void> {
  const { redis, records, events } = deps;
  for (let isTold = false; ;) {
    const record = await records.read();
    const newer = judgeNewer(record);
    if (newer) throw new ConfigError(newer.sentence);
    if (!(await isLeft(redis, record))) return;
    const lease = await takeUpgradeLease(redis);
    if (!lease) {
      if (!isTold) events.waits();
      isTold = true;
      await wait(LOOK_EVERY_MS);
      continue;
    }
    try {
      // Another may have ended it in between.
      const found = await records.read();
      if (await isLeft(redis, found)) await takeOver(deps, found);
      return;
    } finally {
      await lease.release();
    }
  }
}

async function isLeft(redis: RedisClient, { layout, upgradingTo }: ShardRecord): Promise<boolean> {
  return layout !== LAYOUT || upgradingTo !== undefined || (await hasFormerKeys(redis));
}

async function takeOver(
  { redis, records, presence, events, goneAfterMs, now }: TakeOverDataDeps,
  record: ShardRecord,
): Promise<void> {
  const findFormer = createFindFormerProcesses({
    redis,
    presence,
    isFirst: record.layout === undefined,
    onWatch: events.watches,
    ...(goneAfterMs !== undefined && { goneAfterMs }),
  });
  let start = performance.now();
  const onBegin = () => {
    start = performance.now();
    events.began();
  };
  const report = await upgradeData({ redis, records, findFormer, onBegin, now }, record);
  events.ended({ ...report, tookMs: Math.round(performance.now() - start) });
}
