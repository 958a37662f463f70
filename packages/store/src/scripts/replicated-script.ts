import { randomToken } from '../redis/random-token.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { defineScript, type Script } from './script.ts';
import { demandReplicated, hashTagOf, type AwaitReplication } from './await-replication.ts';

/** The dependencies of a store whose writes are acknowledged. */
export type ReplicatedStoreDeps = {
  readonly redis: RedisClient;
  /** Absent: writes don't wait for replicas, and carry no proof. */
  readonly awaitReplication?: AwaitReplication | undefined;
};

/** How long a proof is kept, in ms. */
const PROOF_TTL_MS = 60_000;

/**
 * A script whose reply comes only once replicas have what it wrote and what it saw, also when an earlier run had done
 * it all. In the same step it writes a proof, a key of this run alone. A server has the proof only if the script ran
 * there, or on the server that it follows. The call throws UnavailableError when too few replicas have it in time; the
 * write may stand then.
 */
export function defineReplicatedScript({ redis, awaitReplication }: ReplicatedStoreDeps, lua: string): Script {
  if (!awaitReplication) return defineScript(redis, lua);
  const proof = `redis.call('SET', KEYS[#KEYS], '', 'PX', ${PROOF_TTL_MS})\n`;
  // Flags stand in the first line.
  const script = defineScript(
    redis,
    lua.replace(/^(?:#!.*\n)?/, (flags) => flags + proof),
  );
  return async (keys, args) => {
    const key = `{${hashTagOf(keys[0] ?? '')}}:receipt:${randomToken()}`;
    const reply = await script([...keys, key], args);
    await demandReplicated(awaitReplication, { key });
    return reply;
  };
}
