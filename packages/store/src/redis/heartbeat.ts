import { Cluster } from 'ioredis';
import { mastersOf, type RedisClient } from './connect-redis.ts';
import { isRedisRefusal } from '../server/is-redis-unavailable.ts';

/** How often a server is asked for an answer, in ms. */
const BEAT_EVERY_MS = 250;
/** A server whose answer takes longer is silent, in ms. */
const SILENT_AFTER_MS = 1_000;
/** After this silence a cluster's connection of subscriptions is made again, in ms. All others do that themselves. */
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
 * Watches whether the server of a connection answers, as a connection can die without a reset. Asks again and again,
 * one question at a time, so that there is always a command for which `socketTimeout` closes a dead connection.
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
    party.isSilent = owesMs >= SILENT_AFTER_MS;
    if (!isClusterSubscriber || owesMs < SUBSCRIBER_LIMIT_MS) return;
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
  const timer = setInterval(beat, BEAT_EVERY_MS);
  return {
    /** Whether the server owes an answer for too long. Of a cluster: whether all its masters do. No I/O. */
    isSilent: () => parties.size > 0 && [...parties.values()].every((party) => party.isSilent),
    /** When the server last answered, or the heartbeat began, as `performance.now()`. */
    lastAnswerAt: () => lastAnswerAt,
    stop: () => {
      clearInterval(timer);
    },
  };
}
export type Heartbeat = ReturnType<typeof startHeartbeat>;
