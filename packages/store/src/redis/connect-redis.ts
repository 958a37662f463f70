import { Cluster, Redis, type ClusterOptions, type RedisOptions } from 'ioredis';
import { answerWithin } from '@herald/runtime/async/answer-within';
import type { RedisAccess, RedisTarget } from '../server/redis-target.ts';
import { explainFailure, isDatabaseRefusal } from '../server/explain-failure.ts';
import { watchSentinels } from './watch-sentinels.ts';

/** A connection to Redis, or to all masters of a Redis Cluster, and the port through which everything in this package talks to it. */
export type RedisClient = Redis | Cluster;

/**
 * What a connection is for. `request`: somebody waits for the answer, so a command fails at once when Redis is away.
 * `background`: nobody waits; commands wait for Redis to come back, as BullMQ's workers require. `subscriptions`: as `request`; the
 * client subscribes by itself when it is connected again, and leaves it to nobody to see that fail by a time-out.
 */
export type ConnectionUse = 'request' | 'background' | 'subscriptions';

export type ConnectRedisDeps = {
  readonly target: RedisTarget;
  readonly use: ConnectionUse;
  /** Shown by CLIENT LIST. */
  readonly name: string;
  readonly onError: (error: Error) => void;
  /** It was made again after it had broken. */
  readonly onReconnect?: () => void;
};

/** Replies come in the forms of RESP2: whoever would choose others chooses them for every parser here. */
type Settings = Omit<RedisOptions, 'replyMapping'>;

const CONNECT_TIMEOUT_MS = 5_000;
/**
 * A connection on which a command has waited for so long without a byte is closed and made again, in ms. It is longer than a
 * request waits (`commandTimeout`), and than a blocking command of BullMQ blocks (`BLOCK_LIMIT_MS`).
 */
export const SOCKET_TIMEOUT_MS = 6_000;
/** The longest that a command may block on purpose, in ms. */
export const BLOCK_LIMIT_MS = 4_000;
/** An idle connection is probed by the system after this, in ms; ten lost probes, one a second, end it. */
const KEEP_ALIVE_MS = 10_000;
/** A Sentinel that is asked for the master and says nothing for so long is passed over, in ms. */
const SENTINEL_ANSWER_MS = 2_000;
const QUIT_LIMIT_MS = 2_000;
const REVIVE_AFTER_MS = 100;
/** Clients that were closed on purpose. */
const closed = new WeakSet<RedisClient>();
/** What watches the Sentinels for a client. */
const watches = new WeakMap<RedisClient, { readonly close: () => void }>();
/** How often a client looks where the slots of a cluster are, whatever the answers that it got, in ms. */
const SLOTS_EVERY_MS = 5_000;

const OPTIONS = {
  request: { maxRetriesPerRequest: 1, enableOfflineQueue: false, commandTimeout: 5_000, enableAutoPipelining: true },
  background: { maxRetriesPerRequest: null, enableAutoPipelining: true },
  subscriptions: { maxRetriesPerRequest: 1, enableOfflineQueue: false },
} as const satisfies Record<ConnectionUse, Settings>;

/**
 * No automatic pipelines: the client fills one pipeline with commands of several slots, and when these move to another
 * node each is refused in other words; then it neither follows nor looks where they went. Alone, each command is led on.
 * The tries are 100 ms apart while a node is away: half a second for a request, and for the background no end.
 */
const CLUSTER_OPTIONS = {
  request: { enableOfflineQueue: false, maxRedirections: 6 },
  background: { maxRedirections: 1_000_000 },
  subscriptions: { enableOfflineQueue: false, maxRedirections: 6 },
} as const satisfies Record<ConnectionUse, ClusterOptions>;

/** Redis can't be reached at start-up, or not be worked with; the message says what to do. */
export class RedisUnreachableError extends Error {
  override readonly name = 'RedisUnreachableError';
  /** Stable: that of the finding. */
  readonly code: string;
  constructor(message: string, code = 'redis_unreachable') {
    super(message);
    this.code = code;
  }
}

/** Connects, or throws `RedisUnreachableError` within 5 s, and a moment more to find out why. Afterwards the connection restores itself for ever. */
export async function connectRedis({
  target,
  use,
  name,
  onError,
  onReconnect,
}: ConnectRedisDeps): Promise<RedisClient> {
  const redis = createClient(target, use, name);
  const heard: Error[] = [];
  let isStarting = true;
  const noteError = (error: Error) => {
    // A cluster's own error says no more than that all nodes failed.
    if (isStarting) heard.push((error as { lastNodeError?: Error }).lastNodeError ?? error);
    // The client would go on in database 0.
    if (isDatabaseRefusal(error)) redis.disconnect(true);
    onError(error);
  };
  redis.on('error', noteError);
  if (redis instanceof Cluster) redis.on('node error', noteError);
  try {
    await within(CONNECT_TIMEOUT_MS, connectAll(redis));
    redis.on('ready', () => onReconnect?.());
    revive(redis);
    if (target.kind === 'sentinel') {
      let isLeaving = false;
      // In-flight commands are sent again, or refused, as whenever a connection breaks.
      const leave = () => {
        isLeaving = redis.status !== 'ready';
        if (!isLeaving) redis.disconnect(true);
      };
      // Whom it asked for the master may not have heard of the failover yet.
      redis.on('ready', () => {
        if (isLeaving) leave();
      });
      watches.set(redis, watchSentinels(target, toSentinelOptions(target, name), leave));
    }
    isStarting = false;
    return redis;
  } catch (error) {
    redis.disconnect();
    const { code, sentence } = await explainFailure({ target, heard, thrown: error });
    throw new RedisUnreachableError(sentence, code);
  }
}

/**
 * A client on Sentinels ends for good when it hears of a failover just while it connects again: the news breaks what is under
 * way, and the client takes that for somebody's wish. Whoever wishes it says so to `closeRedis`.
 */
function revive(redis: RedisClient): void {
  redis.on('end', () => {
    if (closed.has(redis)) return;
    setTimeout(() => {
      if (!closed.has(redis) && redis.status === 'end') redis.connect().catch(() => undefined); // told as an 'error', and tried again
    }, REVIVE_AFTER_MS);
  });
}

/**
 * Closes a connection whatever state it is in; commands sent before are answered first while Redis is there.
 * @param isSilent its server is known to give no answer: then none is waited for
 */
export async function closeRedis(redis: RedisClient, isSilent = false): Promise<void> {
  closed.add(redis);
  watches.get(redis)?.close();
  if (redis.status === 'ready' && !isSilent) {
    const quitted = redis.quit().catch(() => undefined);
    await answerWithin(QUIT_LIMIT_MS, quitted, () => undefined);
  }
  redis.disconnect();
}

/** The servers that hold the data: the masters of a cluster, or the one server. */
export function mastersOf(redis: RedisClient): readonly Redis[] {
  return redis instanceof Cluster ? redis.nodes('master') : [redis];
}

function createClient(target: RedisTarget, use: ConnectionUse, name: string): RedisClient {
  const options: Settings = {
    ...OPTIONS[use],
    connectionName: name,
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    keepAlive: KEEP_ALIVE_MS,
  };
  const ownOptions: Settings = {
    ...options,
    // A replica that was promoted away refuses writes: find the master again.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    retryStrategy,
  };
  switch (target.kind) {
    case 'single':
      return new Redis(target.url, ownOptions);
    case 'sentinel':
      return new Redis({
        ...ownOptions,
        ...toAccessOptions(target.access),
        db: target.database,
        sentinels: [...target.sentinels],
        name: target.masterName,
        sentinelRetryStrategy: retryStrategy,
        ...(target.access.usesTls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
        ...(target.sentinelPassword !== undefined && { sentinelPassword: target.sentinelPassword }),
        sentinelCommandTimeout: SENTINEL_ANSWER_MS,
      });
    case 'cluster':
      return new Cluster([...target.nodes], {
        ...CLUSTER_OPTIONS[use],
        lazyConnect: true,
        slotsRefreshInterval: SLOTS_EVERY_MS,
        clusterRetryStrategy: retryStrategy,
        // A certificate names a host, not the address that it has.
        ...(target.access.usesTls && { dnsLookup: keepHostName }),
        redisOptions: { ...options, enableAutoPipelining: false, ...toAccessOptions(target.access) },
      });
  }
}

/** As the client's own connections to Sentinels, and made again for ever. */
function toSentinelOptions(
  { access, sentinelPassword }: Extract<RedisTarget, { kind: 'sentinel' }>,
  name: string,
): Settings {
  return {
    connectionName: name,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    keepAlive: KEEP_ALIVE_MS,
    maxRetriesPerRequest: null,
    retryStrategy,
    ...(access.usesTls && { tls: {} }),
    ...(sentinelPassword !== undefined && { password: sentinelPassword }),
  };
}

async function connectAll(redis: RedisClient): Promise<void> {
  await redis.connect();
  // The client would dial each node only at its first command, and refuse the second one meanwhile.
  if (redis instanceof Cluster) await Promise.all(redis.nodes('master').map((node) => node.ping()));
}

function retryStrategy(times: number): number {
  return Math.min(50 * 2 ** Math.min(times, 5), 1_000);
}

function toAccessOptions({ username, password, usesTls }: RedisAccess): Settings {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(usesTls && { tls: {} }),
  };
}

function keepHostName(hostname: string, callback: (error: null, address: string) => void): void {
  callback(null, hostname);
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const answer = await answerWithin(
    ms,
    promise.then((value) => ({ value })),
    () => undefined,
  );
  if (!answer) throw new Error('no answer in time');
  return answer.value;
}
