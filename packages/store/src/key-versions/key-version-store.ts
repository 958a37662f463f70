import { z } from 'zod';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace, ShardKeys } from '../keyspace/keys.ts';
import { defineScript } from '../scripts/script.ts';
import { FORGET_KEY_VERSION_LUA, REGISTER_KEY_VERSION_LUA } from '../scripts/key-version-scripts.ts';

/** One key of SECRETS_KEY as a shard knows it. */
export type KeyVersion = {
  readonly keys: ShardKeys;
  readonly fingerprint: string;
  /** Secrets ever encrypted with it; 0: a process registered it, and has encrypted none yet. */
  readonly count: number;
};

/** Which keys of SECRETS_KEY the secrets in this Redis are encrypted with: fingerprints, never a key. */
export type KeyVersionStore = {
  readonly list: () => Promise<readonly KeyVersion[]>;
  /** Shards without any key version: those of a new Redis, or of one from before key versions were recorded. */
  readonly findBlankShards: () => Promise<readonly ShardKeys[]>;
  /** Adds what was found in a blank shard: fingerprints, and how many secrets are encrypted with each. */
  readonly add: (keys: ShardKeys, counts: ReadonlyMap<string, number>) => Promise<void>;
  /**
   * Registers in every shard the key version that a process encrypts with, unless there is one that it lacks.
   * @param known fingerprints of all its keys
   * @param first fingerprint of the key that it encrypts with; absent when it only decrypts
   * @returns those that it lacks; none when it may start
   */
  readonly register: (known: readonly string[], first?: string) => Promise<readonly KeyVersion[]>;
  /** 'changed' when a secret was encrypted with it since it was listed. */
  readonly forget: (keyVersion: KeyVersion) => Promise<'forgotten' | 'changed'>;
};

export type KeyVersionStoreDeps = { readonly redis: RedisClient; readonly keyspace: Keyspace };

export function createKeyVersionStore({ redis, keyspace }: KeyVersionStoreDeps): KeyVersionStore {
  const register = defineScript(redis, 'registerKeyVersion', REGISTER_KEY_VERSION_LUA);
  const forget = defineScript(redis, 'forgetKeyVersion', FORGET_KEY_VERSION_LUA);
  return {
    async list() {
      const perShard = await Promise.all(
        keyspace.shards.map(async (keys) =>
          Object.entries(await redis.hgetall(keys.keyVersions)).map(([fingerprint, count]) => ({
            keys,
            fingerprint,
            count: Number(count),
          })),
        ),
      );
      return perShard.flat();
    },
    async findBlankShards() {
      const known = await Promise.all(keyspace.shards.map((keys) => redis.exists(keys.keyVersions)));
      return keyspace.shards.filter((_, index) => known[index] === 0);
    },
    async add(keys, counts) {
      for (const [fingerprint, count] of counts) await redis.hsetnx(keys.keyVersions, fingerprint, count);
    },
    async register(known, first) {
      // One shard after the other, and the first decides between processes that start with different keys at once.
      for (const keys of keyspace.shards) {
        const reply = z.array(z.string()).parse(await register([keys.keyVersions], [first ?? '', ...known]));
        if (reply.length > 0) return toKeyVersions(keys, reply);
      }
      return [];
    },
    async forget({ keys, fingerprint, count }) {
      return (await forget([keys.keyVersions], [fingerprint, count])) === 'forgotten' ? 'forgotten' : 'changed';
    },
  };
}

function toKeyVersions(keys: ShardKeys, flat: readonly string[]): KeyVersion[] {
  return flat.flatMap((fingerprint, index) =>
    index % 2 === 0 ? [{ keys, fingerprint, count: Number(flat[index + 1]) }] : [],
  );
}
