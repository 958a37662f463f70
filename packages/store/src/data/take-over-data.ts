import { INHERIT_LUA } from '@herald/queue';
import { ConfigError } from '@herald/runtime/env';
import type { Logger } from '@herald/runtime/log';
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { enterKeysOfWorkspaces } from '../access/api-key-store.ts';
import { readKeyName } from '../keys/key-name.ts';
import { createKeyspace, GLOBAL_KEYS, readScoredIds, type ShardKeys } from '../keys/keys.ts';
import { LAYOUT } from '../keys/layout.ts';
import { countRecords } from '../stats/workspace-accounts.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { defineScript } from '../redis/script.ts';
import { walkKeys } from '../redis/walk-keys.ts';
import { findUnreadable } from './data-loss.ts';
import { enqueuePending, forgetPlace } from './enqueue-pending.ts';
import { createFindFormer, type ProcessPresence } from './find-running.ts';
import type { ShardRecord, ShardRecordStore } from './shard-record.ts';

const LOOK_EVERY_MS = 200;
/** Another process takes over after a dead one after this, in ms. */
const LEASE_MS = 10_000;
const RENEWED_EVERY_MS = 2_500;
/** In layout 2, a receiver with a rate stood in `lanes` with a bucket of tokens `m:`. */
const FORMER_KEY = /^\{[^}]*\}:(?:m:.+|lanes)$/s;
/** Until layout 3, the name of a delivery or a transition: what stands before and behind the letter that has gone. */
const FORMER_RECORD = /^(\{[^}]*\}:)(?:d:(?=dlv_)|x:(?=trn_))(.+)$/s;

type TakeOverDataDeps = {
  readonly redis: RedisClient;
  readonly records: ShardRecordStore;
  readonly presence: ProcessPresence;
  readonly logger: Logger;
  /** Epoch ms. */
  readonly now: () => number;
};

/**
 * Resolves once the data has the layout of this version. One process takes the data of a former version over, and the
 * others wait. When that process dies, another goes on.
 * @throws ConfigError when this version can't take the data over, or a process of a former one is alive
 */
export async function takeOverData(deps: TakeOverDataDeps): Promise<void> {
  const { redis, records, logger } = deps;
  for (let isTold = false; ; isTold = true) {
    const record = await records.read();
    const unreadable = await findUnreadable(redis, record);
    if (unreadable) throw new ConfigError(unreadable.sentence);
    if (!isLeft(record)) return;
    const lease = await takeUpgradeLease(redis);
    if (lease) {
      try {
        // Another process may have ended it in between.
        const found = await records.read();
        if (isLeft(found)) await takeOver(deps, found);
        return;
      } finally {
        await lease.release();
      }
    }
    if (!isTold) logger.info('upgrade.waits');
    await wait(LOOK_EVERY_MS);
  }
}

function isLeft({ layout, upgradingTo }: ShardRecord): boolean {
  return layout !== LAYOUT || upgradingTo !== undefined;
}

/**
 * Gives deliveries and transitions their names. In layout 2, a group was a workspace and an origin: gives each receiver
 * what was known of its origin, forgets where deliveries stand in the queue, and enqueues each that has something to do.
 * The record says so meanwhile, and no process starts but to go on. Each step may be repeated, so another run completes
 * a killed one. Nothing waits for replicas: what is lost with a master is taken over again.
 * @throws ConfigError when a process of a former version is alive
 */
async function takeOver({ redis, records, presence, logger, now }: TakeOverDataDeps, record: ShardRecord) {
  const onWatch = (processes: number, forMs: number) => {
    logger.info('upgrade.watches', { processes, forMs });
  };
  const findFormer = createFindFormer({ redis, presence, onWatch });
  refuseFormer(await findFormer());
  await records.beginUpgrade(LAYOUT);
  // A process that started meanwhile shows itself by now. One that starts from here on reads that it must not.
  const running = await findFormer();
  if (running.length > 0 && record.upgradingTo === undefined) await records.dropUpgrade();
  refuseFormer(running);
  const start = performance.now();
  logger.info('upgrade.began');
  const keyspace = createKeyspace(record.count ?? 1);
  for await (const { names } of walkKeys(redis, '{*}:*')) {
    await Promise.all(names.map((name) => takeOverKey(redis, keyspace.shards, name)));
  }
  await Promise.all(keyspace.shards.map((keys) => takeOverMarks(redis, keys)));
  await enterKeysOfWorkspaces(redis);
  const enqueued = await enqueuePending({ redis, keyspace, now });
  const counted = await countRecords({ redis, keyspace, now });
  await records.finishUpgrade(LAYOUT);
  logger.info('upgrade.ended', { enqueued, counted, tookMs: Math.round(performance.now() - start) });
}

function refuseFormer(running: readonly string[]): void {
  if (running.length === 0) return;
  throw new ConfigError(
    `A former version of Herald works on this Redis: ${running.join(', ')}. ` +
      'Stop every API and worker of it, and start this again: it then takes the data over.',
  );
}

const RENAME_RECORD_LUA = /* lua */ `
-- Give a delivery, its attempts or a transition its name. May run twice.
-- KEYS[1] former name   KEYS[2] name
-- Returns nothing.
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RENAME', KEYS[1], KEYS[2]) end
`;

const TAKE_OVER_ENDPOINT_LUA = /* lua */ `
-- Give a receiver a group of its own, which knows of it what was known of its origin. May run twice.
-- KEYS[1] endpoint (hash)
-- ARGV[1] prefix of all keys, in the same slot   ARGV[2] id of the endpoint
-- Returns nothing.
local prefix = ARGV[1]
${INHERIT_LUA}
local place = redis.call('HGET', KEYS[1], 'dst')
if not place then return end
-- That of a receiver with a rate was <origin>~<rate>~<id>.
local origin = string.match(place, '^[^~]*')
if origin ~= place then redis.call('HSET', KEYS[1], 'dst', origin) end
redis.call('HDEL', KEYS[1], 'dstWas')
if string.sub(ARGV[2], 1, 2) == 'wh' then inherit(ARGV[2], origin) end
`;

export async function takeOverKey(redis: RedisClient, shards: readonly ShardKeys[], name: string): Promise<void> {
  if (FORMER_KEY.test(name)) await redis.unlink(name);
  const [, prefix = '', id] = FORMER_RECORD.exec(name) ?? [];
  if (id !== undefined) await defineScript(redis, RENAME_RECORD_LUA)([name, prefix + id], []);
  const key = readKeyName(name);
  if (!key) return;
  const keys = shards[key.shard];
  if (key.kind === 'endpoint' && keys) {
    await defineScript(redis, TAKE_OVER_ENDPOINT_LUA)([name], [keys.prefix, key.id]);
  } else await forgetPlace(redis, key.kind, key.id, name);
}

/** A mark of a removed receiver had the groups in which its deliveries waited. */
async function takeOverMarks(redis: RedisClient, { purge }: ShardKeys): Promise<void> {
  const marks = readScoredIds(await redis.zrange(purge, 0, '-1', 'WITHSCORES'));
  for (const { id: mark, score } of marks.filter(({ id }) => id.includes('|'))) {
    await redis.zadd(purge, score, mark.split('|', 1).join());
    await redis.zrem(purge, mark);
  }
}

const RENEW_LUA = /* lua */ `
-- Renew or end a lease, unless another process has it.
-- KEYS[1] lease (string)
-- ARGV[1] its holder   ARGV[2] how long it lasts from now (ms); 0: it ends
-- Returns 1 when it was held, else 0.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`;

/**
 * Takes the lease under which one process takes data over, so that processes don't do the same work.
 * @returns undefined when another process has it
 */
export async function takeUpgradeLease(redis: RedisClient) {
  const [key, token] = [GLOBAL_KEYS.upgrade, randomUUID()];
  if ((await redis.set(key, token, 'PX', LEASE_MS, 'NX')) === null) return undefined;
  // When Redis is away, the steps fail, too.
  const script = defineScript(redis, RENEW_LUA);
  const renew = (ms: number) => script([key], [token, ms]).catch(() => undefined);
  const timer = setInterval(() => void renew(LEASE_MS), RENEWED_EVERY_MS);
  return {
    async release(): Promise<void> {
      clearInterval(timer);
      await renew(0);
    },
  };
}
