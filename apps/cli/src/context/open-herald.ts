import { toRedisTarget, withOneRedis } from '@herald/config/redis-env';
import { isAlive, readRunningService, runningFileOf, type RunningService } from '@herald/config/running-service';
import {
  RetentionEnv,
  SharedEnv,
  toHistoryConfig,
  toReplayRetentionMs,
  toRetentionMs,
} from '@herald/config/shared-env';
import { NotFoundError, type WorkspaceId } from '@herald/core';
import type { HistoryUser } from '@herald/history/requirements/prepare-history';
import { ConfigError, readEnv } from '@herald/runtime/env';
import { messageOfThrown } from '@herald/runtime/errors';
import { createResources } from '@herald/runtime/lifecycle';
import { type Clock, startClock } from '@herald/store/redis/clock';
import { createKeyspace } from '@herald/store/keys/keys';
import { createHistoryMark } from '@herald/store/lists/history-mark';
import { createOwnerLookUp } from '@herald/store/operators/search';
import { closeRedis, connectRedis, type RedisClient } from '@herald/store/redis/connect-redis';
import { demandAccess } from '@herald/store/redis/check-redis';
import { createAwaitReplication } from '@herald/store/redis/await-replication';
import { judgeShards, createShardRecordStore } from '@herald/store/data/shard-record';
import { findLayoutProblem } from '@herald/store/data/data-loss';
import { existsSync } from 'node:fs';

/**
 * The settings of the service that the CLI needs to reach its data.
 * @throws ConfigError with every problem at once
 */
export function readCliConfig(env: NodeJS.ProcessEnv) {
  const given = readEnv(withOneRedis(SharedEnv.extend(RetentionEnv.shape)), env);
  return {
    redis: toRedisTarget(given),
    minReplicas: given.REDIS_MIN_REPLICAS,
    shardCount: given.SHARDS,
    auditLength: given.AUDIT_LENGTH,
    retentionMs: toRetentionMs(given),
    replayRetentionMs: toReplayRetentionMs(given),
    /** Undefined: there is no history. */
    history: toHistoryConfig(given),
  };
}

export function createHeraldAccess(serviceEnv: ServiceEnv) {
  let clock: Clock | undefined;
  /** Epoch ms: the machine's time until a command has connected, and then that of Redis. */
  const now = () => clock?.now() ?? Date.now();
  /**
   * Connects to the service's data for one command. `anyShards` and `anyRedis` leave out the checks.
   * @throws ConfigError when SHARDS doesn't fit the data, or the data has the layout of another version
   * @throws RedisUnreachableError when Redis lacks something that every command needs
   */
  const openHerald = async ({ anyShards = false, anyRedis = false } = {}) => {
    const config = readCliConfig(serviceEnv());
    const { redis: target, minReplicas, shardCount } = config;
    const resources = createResources(() => undefined);
    /** Opens another connection, for commands that occupy one. */
    const connect = async () => {
      // A lost connection fails the command that needs it.
      const redis = await connectRedis({ target, use: 'request', name: 'herald-cli', onError: () => undefined });
      resources.add('redis', () => closeRedis(redis));
      return redis;
    };
    try {
      const redis = await connect();
      if (!anyRedis) await demandAccess(redis, { target, minReplicas, shardCount });
      const running = await startClock(redis).catch((error: unknown) => {
        if (!anyRedis) throw error;
        return undefined;
      });
      if (running) resources.add('clock', running.stop);
      clock = running;
      if (!anyShards) await refuseOtherShards(redis, shardCount);
      const keyspace = createKeyspace(shardCount);
      const awaitReplication =
        minReplicas > 0 ? createAwaitReplication({ redis: await connect(), minReplicas }) : undefined;
      const dataId = createShardRecordStore(redis).readDataId;
      const mark = createHistoryMark({ redis, keyspace });
      const readUser = async () => ({ dataId: await dataId(), historyId: await mark.read() });
      const history = config.history && (await openHistory(config.history.url, readUser));
      if (history) resources.add('history', history.close);
      return {
        config,
        redis,
        awaitReplication,
        keyspace,
        /** Undefined: settled deliveries stay in Redis until they expire. */
        history: history?.reader,
        /** Which data uses it. */
        readHistoryUser: readUser,
        historyMark: mark,
        connect,
        now,
        [Symbol.asyncDispose]: resources.release,
      };
    } catch (error) {
      await resources.release();
      throw error;
    }
  };
  return { openHerald, now };
}
export type OpenHerald = ReturnType<typeof createHeraldAccess>['openHerald'];
export type Herald = Awaited<ReturnType<OpenHerald>>;

/** The error of the command that needs it says that it is away. Without a history PostgreSQL's client isn't loaded. */
async function openHistory(url: string, readUser: () => Promise<HistoryUser>) {
  const { createHistoryAccess } = await import('@herald/history/access/create-history-access');
  return createHistoryAccess({ url, name: 'herald-cli', connections: 2, readUser, onUnavailable: () => undefined });
}

async function refuseOtherShards(redis: RedisClient, shardCount: number): Promise<void> {
  const record = await createShardRecordStore(redis).read();
  const refusal = judgeShards({ record }, shardCount)[0] ?? (await findLayoutProblem(redis, record));
  if (refusal) throw new ConfigError(refusal.sentence);
}

const LOOK_UP = { delivery: 'ofDelivery', receiver: 'ofEndpoint', callback: 'ofEndpoint', replay: 'ofReplay' } as const;

/** The workspace that owns a thing. @throws NotFoundError */
export async function findOwner(herald: Herald, thing: keyof typeof LOOK_UP, id: string): Promise<WorkspaceId> {
  const owner = await createOwnerLookUp(herald)[LOOK_UP[thing]](id);
  if (owner === undefined) throw new NotFoundError(thing, id);
  return owner;
}

/** Each says where Redis is: with one of them, the environment is taken as it is. */
const ADDRESSES = ['REDIS_URL', 'REDIS_CLUSTER_NODES', 'REDIS_SENTINELS'];

type ServiceEnvDeps = {
  readonly env: NodeJS.ProcessEnv;
  readonly localFolder: string;
  /** Tells people about it, once. */
  readonly note: (text: string) => void;
};

/**
 * Finds the variables of the service to work on: those of the environment if it names a Redis or nothing else does, or
 * those of the service that `npm start` runs. What the environment has besides wins.
 * @throws ConfigError when that service has died or is not up yet: another Redis would be a wrong one
 */
export function createServiceEnv({ env, localFolder, note }: ServiceEnvDeps): () => NodeJS.ProcessEnv {
  const find = () => {
    if (ADDRESSES.some((name) => (env[name] ?? '') !== '')) return env;
    const file = runningFileOf(localFolder);
    const running = read(localFolder, file);
    if (!running) {
      if (existsSync(localFolder))
        note("The service of npm start doesn't run, so this takes the environment's variables.");
      return env;
    }
    if (!isAlive(running))
      throw new ConfigError(
        `The service of npm start has died: its process ${running.pid} is gone. Start it again, or set REDIS_URL to use ` +
          `another one (${file} is left of it).`,
      );
    if (!running.env)
      throw new ConfigError('npm start is starting the service. Try again when it says that Herald is running.');
    note(`Using the service of npm start, at ${running.apiUrl}.`);
    const given = Object.entries(env).filter(([, value]) => value !== '');
    return { ...running.env, ...Object.fromEntries(given) };
  };
  let found: NodeJS.ProcessEnv | undefined;
  return () => (found ??= find());
}
export type ServiceEnv = ReturnType<typeof createServiceEnv>;

function read(folder: string, file: string): RunningService | undefined {
  try {
    return readRunningService(folder);
  } catch (error) {
    throw new ConfigError(`${file} can't be read (${messageOfThrown(error)}). Set REDIS_URL, or remove the file.`);
  }
}
