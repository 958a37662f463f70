import { randomToken } from '../redis/random-token.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { defineScript, type Script } from './script.ts';
import { demandReplicated, hashTagOf, type AwaitReplication } from './await-replication.ts';

/** What a store of things that are acknowledged is made of. */
export type ReplicatedStoreDeps = {
  readonly redis: RedisClient;
  /** Absent: nobody asks for replicas, and nothing is added to a write. */
  readonly awaitReplication?: AwaitReplication | undefined;
};

/** How long a proof is there to be looked at, in ms. */
const PROOF_TTL_MS = 60_000;

/**
 * A script whose reply comes only once replicas have what it wrote, and what it saw: also when it found everything done
 * by an earlier run. For this it leaves a proof in the same step, a key of this run's own, which is on a server only if
 * the script ran there or on the server that this one follows. The call throws UnavailableError when the replicas don't
 * have it in time; what was written may stand then.
 */
export function defineReplicatedScript(
  { redis, awaitReplication }: ReplicatedStoreDeps,
  name: string,
  lua: string,
): Script {
  if (!awaitReplication) return defineScript(redis, name, lua);
  const script = defineScript(redis, name, `redis.call('SET', KEYS[#KEYS], '', 'PX', ${PROOF_TTL_MS})\n${lua}`);
  return async (keys, args) => {
    const key = `{${hashTagOf(keys[0] ?? '')}}:receipt:${randomToken()}`;
    const reply = await script([...keys, key], args);
    await demandReplicated(awaitReplication, { key });
    return reply;
  };
}
