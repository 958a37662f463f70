import { z } from 'zod';
import type { Keyspace, ShardKeys } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { FORGET_KEY_VERSION_LUA, REGISTER_KEY_VERSION_LUA } from '../redis/key-version-scripts.ts';
import { defineScript } from '../redis/script.ts';

/** One key of SECRETS_KEY as a shard knows it. */
export type KeyVersion = {
  readonly keys: ShardKeys;
  readonly fingerprint: string;
  /** Secrets ever encrypted with it. 0: a process registered it and has not encrypted any yet. */
  readonly count: number;
};

const Missing = z.array(z.string());
const ForgetReply = z.enum(['forgotten', 'changed']);

/** The keys of SECRETS_KEY that the secrets in this Redis are encrypted with: fingerprints, never a key. */
export function createKeyVersionStore({ redis, keyspace }: { redis: RedisClient; keyspace: Keyspace }) {
  const register = defineScript(redis, REGISTER_KEY_VERSION_LUA);
  const forget = defineScript(redis, FORGET_KEY_VERSION_LUA);
  return {
    async list(): Promise<readonly KeyVersion[]> {
      const perShard = await Promise.all(
        keyspace.shards.map(async (keys) => {
          const counts = Object.entries(await redis.hgetall(keys.keyVersions));
          return counts.map(([fingerprint, count]) => ({ keys, fingerprint, count: Number(count) }));
        }),
      );
      return perShard.flat();
    },
    /** Shards without any key version: those of a new Redis, or of one from before key versions were recorded. */
    async findBlankShards(): Promise<readonly ShardKeys[]> {
      const known = await Promise.all(keyspace.shards.map((keys) => redis.exists(keys.keyVersions)));
      return keyspace.shards.filter((_, index) => known[index] === 0);
    },
    /** Adds key versions to a shard: fingerprints, and the number of secrets that are encrypted with each. */
    async add(keys: ShardKeys, counts: ReadonlyMap<string, number>): Promise<void> {
      for (const [fingerprint, count] of counts) await redis.hsetnx(keys.keyVersions, fingerprint, count);
    },
    /**
     * Registers the key version that a process encrypts with in every shard, unless the process lacks one of the shard.
     * @param known fingerprints of all its keys
     * @param first fingerprint of the key that it encrypts with; absent when it only decrypts
     * @returns a key version that it lacks; undefined when it may start
     */
    async register(known: readonly string[], first?: string): Promise<KeyVersion | undefined> {
      // One shard after the other: the first one decides between processes that start with different keys at once.
      for (const keys of keyspace.shards) {
        const [fingerprint, count] = Missing.parse(await register([keys.keyVersions], [first ?? '', ...known]));
        if (fingerprint !== undefined) return { keys, fingerprint, count: Number(count) };
      }
      return undefined;
    },
    /** 'changed' when a secret was encrypted with it since it was listed. */
    forget: async ({ keys, fingerprint, count }: KeyVersion) =>
      ForgetReply.parse(await forget([keys.keyVersions], [fingerprint, count])),
  };
}
export type KeyVersionStore = ReturnType<typeof createKeyVersionStore>;
