import { answerWithin, oneAtATime } from '@herald/runtime/async';
import { BEAT_MS } from '@herald/runtime/beat';
import { Cluster, Redis, type ClusterOptions, type Command, type RedisOptions } from 'ioredis';
import { explainFailure, isDatabaseRefusal } from './explain-failure.ts';
import { placesOf, toSignInOptions, type RedisTarget } from './redis-target.ts';

/** A connection to Redis, or to all masters of a Redis Cluster. All of this package talks to Redis through it. */
export type RedisClient = Redis | Cluster;

/**
 * What a connection is for. `request`: a caller waits for the answer, so a command fails at once when Redis is away.
 * `background`: commands wait for Redis to come back, as BullMQ's workers require, and scripts also for one that refuses
 * for a while (`defineScript`). `subscriptions`: as `request`, but no command times out: the client subscribes again by
 * itself after a reconnection, and nothing would handle a time-out.
 */
export type ConnectionUse = 'request' | 'background' | 'subscriptions';

type ConnectRedisDeps = {
  readonly target: RedisTarget;
  readonly use: ConnectionUse;
  /** Shown by CLIENT LIST. */
  readonly name: string;
  readonly onError: (error: Error) => void;
  /** Called after each reconnection. */
  readonly onReconnect?: () => void;
};

/** Without `replyMapping`: every parser here expects the replies of RESP2. */
type Settings = Omit<RedisOptions, 'replyMapping'>;

const CONNECT_TIMEOUT_MS = 5_000;
/**
 * A connection is closed and made again when a command has waited for so long without a byte, in ms. Longer than a
 * request waits (`commandTimeout`), and longer than a blocking command of BullMQ (`BLOCK_LIMIT_MS`).
 */
const SOCKET_TIMEOUT_MS = 6_000;
/** The longest time that a command may block on purpose, in ms. */
export const BLOCK_LIMIT_MS = 4_000;
/** The system probes an idle connection after this, in ms. Ten lost probes, one a second, end it. */
const KEEP_ALIVE_MS = 10_000;
/** A server that owes an answer at the beat nearest to so long after the question is silent, in ms. */
export const SILENT_AFTER_MS = 1_000;
/** A silent server is known as such within this, in ms: the question may come a beat after its last answer. */
export const SILENCE_KNOWN_MS = BEAT_MS + SILENT_AFTER_MS;
/** A Sentinel that doesn't name the master within this is skipped, in ms. */
const SENTINEL_ANSWER_MS = 2_000;
const QUIT_LIMIT_MS = 2_000;
const REVIVE_AFTER_MS = 100;
/** How often a client asks where the slots of a cluster are, in ms. */
const SLOTS_EVERY_MS = 5_000;
/** Clients that were closed on purpose. */
const closed = new WeakSet<RedisClient>();
/** Clients of the background, and what hears of their errors. */
const background = new WeakMap<RedisClient, (error: Error) => void>();
/** What connects a client again that has ended by itself. */
const reviving = new WeakMap<RedisClient, NodeJS.Timeout>();
/** Fails what waits for an answer from a client, and whatever is sent to it later. */
const failsCommands = new WeakMap<RedisClient, () => void>();
/** Clients that have left a server because it is a replica, until they are connected again or can't be. */
const leftReplica = new WeakSet<RedisClient>();
/** Ends the watch on the Sentinels of a client. */
const endsOfWatch = new WeakMap<RedisClient, () => void>();

const TIMES = { connectTimeout: CONNECT_TIMEOUT_MS, socketTimeout: SOCKET_TIMEOUT_MS, keepAlive: KEEP_ALIVE_MS };

/**
 * No automatic pipelines. The client makes one for nearly every command, each leads to what it asked and got for as long
 * as V8 keeps its closures, and a second one waits for the first. In a cluster, they don't follow slots that move.
 */
const OPTIONS = {
  request: { maxRetriesPerRequest: 1, enableOfflineQueue: false, commandTimeout: 5_000 },
  background: { maxRetriesPerRequest: null },
  subscriptions: { maxRetriesPerRequest: 1, enableOfflineQueue: false },
} as const satisfies Record<ConnectionUse, Settings>;

/** While a node is away, the tries are 100 ms apart: for half a second of a request, and without end in the background. */
function toClusterOptions(use: ConnectionUse): ClusterOptions {
  return use === 'background' ? { maxRedirections: 1_000_000 } : { enableOfflineQueue: false, maxRedirections: 6 };
}

/** Redis can't be reached at start-up, or can't be used. The message says what to do, and the code is stable. */
export class RedisUnreachableError extends Error {
  override readonly name = 'RedisUnreachableError';
  readonly code: string;
  constructor(message: string, code = 'redis_away') {
    super(message);
    this.code = code;
  }
}

/**
 * Connects. Afterwards the connection restores itself without end.
 * @throws RedisUnreachableError within 5 s, and some time more to find out why
 */
export async function connectRedis(deps: ConnectRedisDeps): Promise<RedisClient> {
  const { target, use, name, onError, onReconnect } = deps;
  const redis = createClient(target, use, name, () => leftReplica.add(redis));
  rememberCommands(redis);
  const heard: Error[] = [];
  let isStarting = true;
  const noteError = (error: Error) => {
    // A cluster's own error says only that all nodes failed.
    if (isStarting) heard.push((error as { lastNodeError?: Error }).lastNodeError ?? error);
    // The client would go on in database 0.
    if (isDatabaseRefusal(error)) redis.disconnect(true);
    leftReplica.delete(redis);
    onError(error);
  };
  redis.on('error', noteError);
  if (redis instanceof Cluster) redis.on('node error', noteError);
  try {
    const connected = connectAll(redis).then(() => true);
    if (!(await answerWithin(CONNECT_TIMEOUT_MS, connected, () => false))) throw new Error('no answer in time');
    redis.on('ready', () => {
      leftReplica.delete(redis);
      onReconnect?.();
    });
    revive(redis);
    if (use === 'background') background.set(redis, onError);
    if (target.kind === 'sentinel') followMaster(redis, target, name);
    isStarting = false;
    return redis;
  } catch (error) {
    redis.disconnect();
    const { code, sentence } = await explainFailure(target, heard, error);
    throw new RedisUnreachableError(sentence, code);
  }
}

/**
 * Connects a client again that has ended by itself. A client on Sentinels does so when it hears of a failover while it
 * reconnects: it takes the break of its attempt for a call of `disconnect`. Only `closeRedis` may end a client.
 */
function revive(redis: RedisClient): void {
  redis.on('end', () => {
    if (closed.has(redis)) return;
    const timer = setTimeout(() => {
      if (redis.status === 'end') redis.connect().catch(() => undefined); // told as an 'error', and tried again
    }, REVIVE_AFTER_MS);
    reviving.set(redis, timer);
  });
}

/** Makes a client connect anew when its Sentinels name another master. */
function followMaster(redis: RedisClient, target: Extract<RedisTarget, { kind: 'sentinel' }>, name: string): void {
  let isLeaving = false;
  // Commands in flight are sent again, or refused, as whenever a connection breaks.
  const leave = () => {
    isLeaving = redis.status !== 'ready';
    if (!isLeaving) redis.disconnect(true);
  };
  // The Sentinel that was asked for the master may not have heard of the failover yet.
  redis.on('ready', () => {
    if (isLeaving) leave();
  });
  // As the client's own connections to Sentinels, and made again without end.
  const options: Settings = {
    ...TIMES,
    connectionName: name,
    ...toSignInOptions(placesOf(target).access),
    maxRetriesPerRequest: null,
    retryStrategy,
  };
  endsOfWatch.set(redis, watchSentinels(target, options, leave));
}

/**
 * Closes a connection in any state. While Redis is there, commands that were sent before are answered first. What has
 * no answer then fails.
 * @param isSilent its server is known to give no answer, so that waiting for one is useless
 */
export async function closeRedis(redis: RedisClient, isSilent = false): Promise<void> {
  closed.add(redis);
  clearTimeout(reviving.get(redis));
  endsOfWatch.get(redis)?.();
  if (redis.status === 'ready' && !isSilent) {
    const quitted = redis.quit().catch(() => undefined);
    await answerWithin(QUIT_LIMIT_MS, quitted, () => undefined);
  }
  redis.disconnect();
  failsCommands.get(redis)?.();
}

/**
 * Remembers what has no answer yet. A client that is closed while it reconnects forgets what it would have sent again,
 * and whatever waits for its next attempt: nobody would ever hear of these commands. On the way, joins what is written.
 */
function rememberCommands(redis: RedisClient): void {
  const waiting = new Map<Command, (error: Error) => void>();
  let isClosed = false;
  const send = redis.sendCommand.bind(redis) as (...args: readonly unknown[]) => unknown;
  const fail = (reject: (error: Error) => void): void => {
    reject(new Error('Connection is closed.'));
  };
  redis.sendCommand = (command: Command, ...rest: readonly unknown[]): unknown => {
    if (isClosed) {
      fail(command.reject);
      return command.promise;
    }
    // It comes here again when the client sends it again.
    if (!waiting.has(command)) {
      // A cluster sets another, which sends it again.
      waiting.set(command, command.reject);
      const forget = () => waiting.delete(command);
      command.promise.then(forget, forget);
    }
    if (redis instanceof Redis) joinWrites(redis);
    return send(command, ...rest);
  };
  failsCommands.set(redis, () => {
    isClosed = true;
    for (const reject of waiting.values()) fail(reject);
  });
}

/** Has the commands that one callback sends go out in one write: each would be a system call of its own. */
function joinWrites({ stream }: { readonly stream?: Redis['stream'] }): void {
  if (!stream || stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => {
    stream.uncork();
  });
}

/** What hears of the errors of a client that waits for Redis; undefined for one that doesn't, or was closed. */
export function findListener(redis: RedisClient): ((error: Error) => void) | undefined {
  return closed.has(redis) ? undefined : background.get(redis);
}

/** The servers that hold the data: the masters of a cluster, or the one server. */
export function mastersOf(redis: RedisClient): readonly Redis[] {
  return redis instanceof Cluster ? redis.nodes('master') : [redis];
}

/** When the certificate of these servers that ends first does, epoch ms; undefined without TLS, or while none is connected. */
export function findCertificateEnd(redis: RedisClient): number | undefined {
  const ends = mastersOf(redis)
    // A node to which nobody has connected yet has no stream.
    .map(({ stream }: { readonly stream?: Redis['stream'] }) => stream)
    .flatMap((stream) => (stream && 'getPeerCertificate' in stream ? [stream.getPeerCertificate()] : []))
    // One that was closed has no certificate any more.
    .flatMap(({ valid_to: end }: { valid_to?: string }) => (end === undefined ? [] : [Date.parse(end)]));
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/** Whether a client has no connection because its server was a replica, and it looks for another. */
export function hasLeftReplica(redis: RedisClient): boolean {
  return leftReplica.has(redis);
}

function createClient(target: RedisTarget, use: ConnectionUse, name: string, onReplica: () => void): RedisClient {
  const options: Settings = { ...OPTIONS[use], ...TIMES, connectionName: name, lazyConnect: true };
  const ownOptions: Settings = {
    ...options,
    // A former master refuses writes once it is a replica: find the new one.
    reconnectOnError: (error) => {
      const isReplica = error.message.startsWith('READONLY');
      if (isReplica) onReplica();
      return isReplica;
    },
    retryStrategy,
  };
  switch (target.kind) {
    case 'single':
      return new Redis(target.url, ownOptions);
    case 'sentinel': {
      const { password: sentinelPassword, tls: sentinelTLS } = toSignInOptions(placesOf(target).access);
      return new Redis({
        ...ownOptions,
        ...toSignInOptions(target.access),
        db: target.database,
        sentinels: [...target.sentinels],
        name: target.masterName,
        sentinelRetryStrategy: retryStrategy,
        ...(sentinelTLS && { enableTLSForSentinelMode: true, sentinelTLS }),
        ...(sentinelPassword !== undefined && { sentinelPassword }),
        sentinelCommandTimeout: SENTINEL_ANSWER_MS,
      });
    }
    case 'cluster':
      return new Cluster([...target.nodes], {
        ...toClusterOptions(use),
        lazyConnect: true,
        slotsRefreshInterval: SLOTS_EVERY_MS,
        clusterRetryStrategy: retryStrategy,
        // A certificate is for a host name, not for its address.
        ...(target.access.usesTls && { dnsLookup: keepHostName }),
        redisOptions: { ...options, ...toSignInOptions(target.access) },
      });
  }
}

async function connectAll(redis: RedisClient): Promise<void> {
  await redis.connect();
  // The client would dial each node only at its first command, and refuse the second one meanwhile.
  if (redis instanceof Cluster) await Promise.all(redis.nodes('master').map((node) => node.ping()));
}

function retryStrategy(times: number): number {
  return Math.min(50 * 2 ** Math.min(times, 5), 1_000);
}

function keepHostName(hostname: string, callback: (error: null, address: string) => void): void {
  callback(null, hostname);
}

type SentinelTarget = Extract<RedisTarget, { kind: 'sentinel' }>;

/** How often each Sentinel is asked which server is the master, in ms. */
const ASK_EVERY_MS = 1_000;

/**
 * Asks every Sentinel for the master's address, and calls `onSwitch` each time when one of them names another than
 * before: the failover is over, and a connection to the old master may still look sound. Sentinels learn of a failover
 * one after the other, so a connection made meanwhile may have asked one that lagged behind. The questions also show
 * that the connections to Sentinels live.
 * @param options settings of connections to Sentinels, credentials included
 * @returns what ends the watch
 */
export function watchSentinels(
  { sentinels, masterName }: SentinelTarget,
  options: Omit<RedisOptions, 'replyMapping'>,
  onSwitch: () => void,
): () => void {
  const watches = sentinels.map((address) => {
    const client = new Redis({ ...options, ...address });
    client.on('error', () => undefined); // it tries again; the service needs one Sentinel that answers
    let named: string | undefined;
    const ask = oneAtATime(async () => {
      // Without an answer the connection broke, and is made again.
      const reply: unknown = await client
        .call('SENTINEL', 'get-master-addr-by-name', masterName)
        .catch(() => undefined);
      const found = Array.isArray(reply) ? reply.join(':') : named;
      if (named !== undefined && named !== found) onSwitch();
      named = found;
    });
    void ask();
    return { client, timer: setInterval(() => void ask(), ASK_EVERY_MS) };
  });
  return () => {
    for (const { client, timer } of watches) {
      clearInterval(timer);
      client.disconnect();
    }
  };
}

/** The `CLIENT LIST` of each server that holds the data. */
export async function listClients(redis: RedisClient): Promise<string[]> {
  return (await Promise.all(mastersOf(redis).map((server) => server.client('LIST')))).map(String);
}
