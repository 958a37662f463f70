import { Cluster } from 'ioredis';
import { mastersOf, type RedisClient } from './connect-redis.ts';
import { isRedisRefusal } from '../server/is-redis-unavailable.ts';

/** Whether a connection's server answers. A connection can die in silence: nothing is reset, and nothing is answered. */
export type Heartbeat = {
  /** The server owes an answer for longer than it should. Of a cluster: all its masters do. No I/O. */
  readonly isSilent: () => boolean;
  /** When the server last answered, or the heartbeat began, as `performance.now()`. */
  readonly lastAnswerAt: () => number;
  readonly stop: () => void;
};

/** How often a server is asked whether it is there, in ms. */
const BEAT_EVERY_MS = 250;
/** An answer that takes longer is told as silence, in ms. */
const SILENT_AFTER_MS = 1_000;
/** A cluster's connection of subscriptions that was silent for so long is made again, in ms. All others see to it themselves. */
const SUBSCRIBER_LIMIT_MS = 6_000;
/** Nobody speaks here: subscribing again and again is how a cluster's connection of subscriptions is asked for an answer. */
const BEAT_CHANNEL = 'herald:test:heartbeat';

/** One server, or the connection of subscriptions of a cluster. */
type Party = {
  isAsked: boolean;
  /** Since when it owes an answer, as `performance.now()`; also when questions were given up meanwhile. */
  owesSince: number | undefined;
  isSilent: boolean;
};

/**
 * Asks the servers of a connection again and again whether they are there, so that there is always a command for which
 * `socketTimeout` can close a dead connection, also when nothing else is to be done. One question is under way at a time.
 */
export function startHeartbeat(redis: RedisClient, holds: 'commands' | 'subscriptions'): Heartbeat {
  const isClusterSubscriber = holds === 'subscriptions' && redis instanceof Cluster;
  const parties = new Map<RedisClient, Party>();
  let lastAnswerAt = performance.now();

  const noteAnswer = (party: Party): void => {
    lastAnswerAt = performance.now();
    party.owesSince = undefined;
    party.isSilent = false;
  };
  const ask = async (member: RedisClient, party: Party): Promise<void> => {
    party.isAsked = true;
    try {
      await (isClusterSubscriber ? member.subscribe(BEAT_CHANNEL) : member.ping());
      noteAnswer(party);
    } catch (error) {
      // A refusal is an answer. Otherwise the connection broke, or the question was given up and is asked again.
      if (isRedisRefusal(error)) noteAnswer(party);
    }
    party.isAsked = false;
  };
  const judge = (member: RedisClient, party: Party): void => {
    if (member.status !== 'ready') {
      // It is known to be away, and has not had the question yet.
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
      // After what has arrived was read: it may be this process that was away.
      setImmediate(judge, member, party);
    }
  };
  const timer = setInterval(beat, BEAT_EVERY_MS);
  return {
    isSilent: () => parties.size > 0 && [...parties.values()].every((party) => party.isSilent),
    lastAnswerAt: () => lastAnswerAt,
    stop: () => {
      clearInterval(timer);
    },
  };
}
