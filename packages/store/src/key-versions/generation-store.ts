import { z } from 'zod';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace, ShardKeys } from '../keyspace/keys.ts';
import { defineScript } from '../scripts/script.ts';
import { FORGET_GENERATION_LUA, JOIN_GENERATIONS_LUA } from '../scripts/generation-scripts.ts';

/** One key of SECRETS_KEY as a shard knows it. */
export type Generation = {
  readonly keys: ShardKeys;
  readonly fingerprint: string;
  /** Secrets ever sealed with it; 0: a process said that it would, and hasn't. */
  readonly count: number;
};

/** Which keys of SECRETS_KEY the secrets in this Redis are sealed with: fingerprints, never a key. */
export type GenerationStore = {
  readonly list: () => Promise<readonly Generation[]>;
  /** Shards that never heard of any: those of a new Redis, or of one from before generations were kept. */
  readonly findBlankShards: () => Promise<readonly ShardKeys[]>;
  /** Enters what was found in a blank shard: fingerprints and how many secrets each has sealed. */
  readonly enter: (keys: ShardKeys, counts: ReadonlyMap<string, number>) => Promise<void>;
  /**
   * Enters the generation that a process seals with, in every shard, unless there is one that it can't open.
   * @returns those it can't open; none when it may start
   */
  readonly join: (opens: readonly string[], seals?: string) => Promise<readonly Generation[]>;
  /** 'changed' when a secret was sealed with it since it was listed. */
  readonly forget: (generation: Generation) => Promise<'forgotten' | 'changed'>;
};

export type GenerationStoreDeps = { readonly redis: RedisClient; readonly keyspace: Keyspace };

export function createGenerationStore({ redis, keyspace }: GenerationStoreDeps): GenerationStore {
  const join = defineScript(redis, 'joinGenerations', JOIN_GENERATIONS_LUA);
  const forget = defineScript(redis, 'forgetGeneration', FORGET_GENERATION_LUA);
  return {
    async list() {
      const perShard = await Promise.all(
        keyspace.shards.map(async (keys) =>
          Object.entries(await redis.hgetall(keys.generations)).map(([fingerprint, count]) => ({
            ...{ keys, fingerprint },
            count: Number(count),
          })),
        ),
      );
      return perShard.flat();
    },
    async findBlankShards() {
      const known = await Promise.all(keyspace.shards.map((keys) => redis.exists(keys.generations)));
      return keyspace.shards.filter((_, index) => known[index] === 0);
    },
    async enter(keys, counts) {
      for (const [fingerprint, count] of counts) await redis.hsetnx(keys.generations, fingerprint, count);
    },
    async join(opens, seals) {
      // One shard after the other, and the first decides between processes that start with different keys at once.
      for (const keys of keyspace.shards) {
        const reply = z.array(z.string()).parse(await join([keys.generations], [seals ?? '', ...opens]));
        if (reply.length > 0) return toGenerations(keys, reply);
      }
      return [];
    },
    async forget({ keys, fingerprint, count }) {
      return (await forget([keys.generations], [fingerprint, count])) === 'forgotten' ? 'forgotten' : 'changed';
    },
  };
}

function toGenerations(keys: ShardKeys, flat: readonly string[]): Generation[] {
  return flat.flatMap((fingerprint, index) =>
    index % 2 === 0 ? [{ keys, fingerprint, count: Number(flat[index + 1]) }] : [],
  );
}
