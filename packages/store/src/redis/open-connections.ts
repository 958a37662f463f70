import { oneAtATime } from '@herald/runtime/async';
import { BEAT_MS, everyBeat } from '@herald/runtime/beat';
import type { Logger } from '@herald/runtime/log';
import { createCounter, type MetricsRegistry } from '@herald/runtime/metrics';
import { Cluster } from 'ioredis';
import { nameConnection } from '../keys/layout.ts';
import { isRedisRefusal } from './refusal.ts';
import {
  closeRedis,
  connectRedis,
  mastersOf,
  SILENT_AFTER_MS,
  type ConnectionUse,
  type RedisClient,
} from './connect-redis.ts';
import type { RedisTarget } from './redis-target.ts';

type OpenConnectionsDeps = {
  readonly target: RedisTarget;
  readonly use: ConnectionUse;
  readonly metrics: RedisMetrics;
  readonly logger: Logger;
  /** Ends the process, because a connection doesn't recover though Redis is there. */
  readonly giveUp: () => void;
};

/** How often the connections are checked for one that doesn't recover, in ms. */
const STUCK_CHECK_MS = 5_000;

/** Opens the connections of one process to Redis, each with a heartbeat. */
export function openConnections({ target, use, metrics, logger, giveUp }: OpenConnectionsDeps) {
  const held: { readonly name: string; readonly redis: RedisClient; readonly heartbeat: Heartbeat }[] = [];
  const listeners: (() => void)[] = [];
  const checkStuck = createStuckCheck({
    connections: () => held.map(({ name, heartbeat }) => ({ name, lastAnswerAt: heartbeat.lastAnswerAt() })),
    async askAnew() {
      await closeRedis(await connectRedis({ target, use: 'request', name: 'herald-check', onError: () => undefined }));
    },
    onStuck: (connection, silentForMs) => {
      logger.error('redis.stuck', { connection, silentForMs });
      giveUp();
    },
    now: () => performance.now(),
  });
  const checkOnce = oneAtATime(checkStuck);
  const stopChecking = everyBeat(STUCK_CHECK_MS, () => void checkOnce());

  return {
    /** @throws RedisUnreachableError */
    async open(name: string, holds: 'commands' | 'subscriptions' = 'commands'): Promise<RedisClient> {
      const onError = (error: Error) => {
        metrics.failed({ connection: name });
        logger.warn('redis.error', { connection: name }, error);
      };
      const onReconnect = () => {
        metrics.reconnected({ connection: name });
        logger.info('redis.reconnected', { connection: name });
        for (const listener of listeners) listener();
      };
      const ownUse = holds === 'subscriptions' ? holds : use;
      const redis = await connectRedis({ target, use: ownUse, name: nameConnection(name), onError, onReconnect });
      held.push({ name, redis, heartbeat: startHeartbeat(redis, holds) });
      return redis;
    },
    /** Whether the server of one of these connections owes an answer for too long. No I/O. */
    isSilent: (...connections: readonly RedisClient[]) =>
      held.some(({ redis, heartbeat }) => connections.includes(redis) && heartbeat.isSilent()),
    /** Adds a listener that is called after each reconnection. */
    onReconnect: (listener: () => void) => {
      listeners.push(listener);
    },
    /** Whatever waits for Redis fails at once, and so does all that comes. `close` is still to be called. */
    giveUp: (): void => {
      logger.warn('redis.given_up');
      for (const { redis } of held) void closeRedis(redis, true);
    },
    close: async (): Promise<void> => {
      stopChecking();
      await Promise.all(
        held.splice(0).map(async ({ redis, heartbeat }) => {
          heartbeat.stop();
          await closeRedis(redis, heartbeat.isSilent());
        }),
      );
    },
  };
}
export type Connections = ReturnType<typeof openConnections>;

/** At the beat nearest to this silence a cluster's connection of subscriptions is made again, in ms. All others do that themselves. */
const SUBSCRIBER_LIMIT_MS = 6_000;
/** A channel without messages: a cluster's connection of subscriptions subscribes to it repeatedly to get an answer. */
const BEAT_CHANNEL = 'herald:test:heartbeat';

/** One server, or the connection of subscriptions of a cluster. */
type Party = {
  isAsked: boolean;
  /** Since when it owes an answer, as `performance.now()`, also across questions that were given up. */
  owesSince: number | undefined;
  isSilent: boolean;
};

/**
 * Watches whether the server of a connection answers, as a connection can die without a reset. Asks at every beat, one
 * question at a time, so that there is always a command for which `socketTimeout` closes a dead connection.
 */
export function startHeartbeat(redis: RedisClient, holds: 'commands' | 'subscriptions') {
  const isClusterSubscriber = holds === 'subscriptions' && redis instanceof Cluster;
  const parties = new Map<RedisClient, Party>();
  let lastAnswerAt = performance.now();

  const ask = async (member: RedisClient, party: Party): Promise<void> => {
    party.isAsked = true;
    const reply: Promise<unknown> = isClusterSubscriber ? member.subscribe(BEAT_CHANNEL) : member.ping();
    // A refusal is an answer. After any other error the question is asked again.
    const isAnswered = await reply.then(() => true, isRedisRefusal);
    if (isAnswered) {
      lastAnswerAt = performance.now();
      party.owesSince = undefined;
      party.isSilent = false;
    }
    party.isAsked = false;
  };
  const judge = (member: RedisClient, party: Party): void => {
    if (member.status !== 'ready') {
      // It is known to be away, and has not got the question yet.
      party.owesSince = undefined;
      party.isSilent = false;
      return;
    }
    if (party.isAsked) party.owesSince ??= performance.now();
    const owesMs = party.owesSince === undefined ? 0 : performance.now() - party.owesSince;
    party.isSilent = owesMs >= SILENT_AFTER_MS - BEAT_MS / 2;
    if (!isClusterSubscriber || owesMs < SUBSCRIBER_LIMIT_MS - BEAT_MS / 2) return;
    party.owesSince = undefined;
    member.disconnect(true);
  };
  const beat = (): void => {
    const members: readonly RedisClient[] = isClusterSubscriber ? [redis] : mastersOf(redis);
    for (const member of parties.keys()) if (!members.includes(member)) parties.delete(member);
    for (const member of members) {
      const party = parties.get(member) ?? { isAsked: false, owesSince: undefined, isSilent: false };
      parties.set(member, party);
      if (!party.isAsked) void ask(member, party);
      // After the replies that have arrived were read: it may be this process that was away.
      setImmediate(judge, member, party);
    }
  };
  const stop = everyBeat(BEAT_MS, beat);
  return {
    /** Whether the server owes an answer for too long. Of a cluster: whether all its masters do. No I/O. */
    isSilent: () => parties.size > 0 && [...parties.values()].every((party) => party.isSilent),
    /** When the server last answered, or the heartbeat began, as `performance.now()`. */
    lastAnswerAt: () => lastAnswerAt,
    stop,
  };
}
type Heartbeat = ReturnType<typeof startHeartbeat>;

type StuckCheckDeps = {
  /** The connections, and when their servers last answered. */
  readonly connections: () => readonly { readonly name: string; readonly lastAnswerAt: number }[];
  /** Asks Redis over a new connection. Rejects when there is no answer. */
  readonly askAnew: () => Promise<void>;
  /** Called with a connection that doesn't recover. */
  readonly onStuck: (name: string, silentForMs: number) => void;
  /** A clock that never jumps, in ms. */
  readonly now: () => number;
};

/** A connection without an answer for so long may be stuck, in ms. */
const SILENT_FOR_MS = 60_000;
/** Redis must have answered new connections for so long, in ms: after an outage all connections need a moment. */
const OTHERS_ANSWER_FOR_MS = 30_000;

/**
 * Returns a check that finds a connection that doesn't recover. An outage of Redis is waited for. When Redis answers
 * new connections but not this one, the cure is a new process.
 */
export function createStuckCheck({ connections, askAnew, onStuck, now }: StuckCheckDeps): () => Promise<void> {
  let othersAnswerSince: number | undefined;
  const findSilent = () => connections().find(({ lastAnswerAt }) => now() - lastAnswerAt > SILENT_FOR_MS);
  const isAnswered = () =>
    askAnew().then(
      () => true,
      () => false,
    );
  return async () => {
    if (!findSilent() || !(await isAnswered())) {
      othersAnswerSince = undefined;
      return;
    }
    othersAnswerSince ??= now();
    const stuck = findSilent();
    if (stuck && now() - othersAnswerSince >= OTHERS_ANSWER_FOR_MS)
      onStuck(stuck.name, Math.round(now() - stuck.lastAnswerAt));
  };
}

/** Counts errors and reconnections of a process's connections to Redis, by their names. */
export function createRedisMetrics(registry: MetricsRegistry, connections: readonly string[]) {
  const from = connections.map((connection) => ({ connection }));
  const count = (name: `herald_${string}_total`, help: string) =>
    createCounter(registry, name, help, ['connection'], from);
  return {
    failed: count('herald_redis_errors_total', 'Errors of connections to Redis.'),
    reconnected: count('herald_redis_reconnects_total', 'Times that a connection to Redis was made again.'),
  };
}
type RedisMetrics = ReturnType<typeof createRedisMetrics>;
