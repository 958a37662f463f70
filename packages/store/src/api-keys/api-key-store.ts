import { randomBytes } from 'node:crypto';
import type { WorkspaceId } from '@herald/core';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { ReplicatedStoreDeps } from '../scripts/replicated-script.ts';
import { batchCalls } from '../scripts/batch-calls.ts';
import { GLOBAL_KEYS } from '../keyspace/keys.ts';
import { defineScript } from '../scripts/script.ts';
import { demandReplicated } from '../scripts/await-replication.ts';
import { digestApiKey, isApiKeyText, isSameProof, newApiKey } from './api-key-text.ts';

export const SCOPES = ['webhooks', 'tasks', 'execute'] as const;
export type Scope = (typeof SCOPES)[number];

/** What is known of a key; the key itself is shown once and never stored. Times are epoch ms. */
export type ApiKey = {
  readonly id: string;
  /** The controller workspace; absent on an executor key, which reports for every workspace. */
  readonly workspaceId?: WorkspaceId;
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly expiresAt?: number;
  /** Up to a minute or so behind; absent before the first use. */
  readonly lastUsedAt?: number;
};

export type NewApiKey = Pick<ApiKey, 'workspaceId' | 'scopes' | 'expiresAt'>;

export type ApiKeyStore = {
  /** Stores a new key and returns it in clear, this once. @throws UnavailableError when too few replicas have it in time */
  readonly create: (key: NewApiKey) => Promise<{ readonly key: string; readonly record: ApiKey }>;
  /** The record of a key that is valid now. What isn't a key by its form costs no look-up. */
  readonly find: (key: string) => Promise<ApiKey | undefined>;
  readonly list: () => Promise<readonly ApiKey[]>;
  /**
   * From the moment this resolves every process refuses the key. False when there is none of this id.
   * @throws UnavailableError when it is refused, and too few replicas know that in time
   */
  readonly revoke: (id: string) => Promise<boolean>;
  /** Notes that a key was used (epoch ms); nothing when it is gone. */
  readonly writeLastUse: (id: string, at: number) => Promise<void>;
};

const KEYS_READ_TOGETHER = 100;

export type ApiKeyStoreDeps = ReplicatedStoreDeps & { readonly now: () => number };

const WRITE_LAST_USE_LUA = /* lua */ `
-- Note when a key was used, unless it was revoked or has expired meanwhile.
-- KEYS[1] API key (hash)   ARGV[1] now (ms)
-- Returns 1 (written) | 0 (there is no such key).
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'lastUsedAt', ARGV[1])
return 1
`;

export function createApiKeyStore({ redis, awaitReplication, now }: ApiKeyStoreDeps): ApiKeyStore {
  const writeLastUse = defineScript(redis, 'writeLastUse', WRITE_LAST_USE_LUA);
  // Whoever asks is answered by a look-up that was sent after he asked, so that a revoked key is refused at once; requests
  // of one moment, which mostly have the same key, share it.
  const readFields = batchCalls({
    async call(lookUps: readonly string[]) {
      const read = await readAll(redis, [...new Set(lookUps)]);
      return lookUps.map((lookUp) => read.get(lookUp) ?? {});
    },
    limit: KEYS_READ_TOGETHER,
  });
  return {
    async create(request) {
      const key = newApiKey();
      const { lookUp, proof } = digestApiKey(key);
      const record: ApiKey = { ...request, id: `key_${randomBytes(8).toString('hex')}`, createdAt: now() };
      // The index first: a crash in between leaves an id that leads nowhere, never a key that nobody can revoke.
      await redis.hset(GLOBAL_KEYS.apiKeyIndex, record.id, lookUp);
      await redis.hset(GLOBAL_KEYS.apiKey(lookUp), { ...toFields(record), proof });
      if (record.expiresAt !== undefined) await redis.pexpireat(GLOBAL_KEYS.apiKey(lookUp), record.expiresAt);
      await Promise.all([
        demandReplicated(awaitReplication, { key: GLOBAL_KEYS.apiKeyIndex, field: record.id }),
        demandReplicated(awaitReplication, { key: GLOBAL_KEYS.apiKey(lookUp) }),
      ]);
      return { key, record };
    },
    async find(key) {
      if (!isApiKeyText(key)) return undefined;
      const { lookUp, proof } = digestApiKey(key);
      const fields = await readFields(lookUp);
      const record = fromFields(fields);
      const isValid = record && isSameProof(proof, fields.proof) && (record.expiresAt ?? Infinity) > now();
      return isValid ? record : undefined;
    },
    async list() {
      const lookUps = Object.values(await redis.hgetall(GLOBAL_KEYS.apiKeyIndex));
      const records = await Promise.all(lookUps.map((lookUp) => redis.hgetall(GLOBAL_KEYS.apiKey(lookUp))));
      return records
        .map(fromFields)
        .filter((record) => record !== undefined)
        .sort((a, b) => a.createdAt - b.createdAt);
    },
    async revoke(id) {
      const lookUp = await redis.hget(GLOBAL_KEYS.apiKeyIndex, id);
      if (lookUp === null) return false;
      const key = GLOBAL_KEYS.apiKey(lookUp);
      await redis.del(key);
      // Before the index forgets it: a key that a failover brought back could be revoked by nobody.
      await demandReplicated(awaitReplication, { key, isGone: true });
      return (await redis.hdel(GLOBAL_KEYS.apiKeyIndex, id)) > 0;
    },
    async writeLastUse(id, at) {
      const lookUp = await redis.hget(GLOBAL_KEYS.apiKeyIndex, id);
      if (lookUp !== null) await writeLastUse([GLOBAL_KEYS.apiKey(lookUp)], [at]);
    },
  };
}

async function readAll(redis: RedisClient, lookUps: readonly string[]): Promise<Map<string, Record<string, string>>> {
  return new Map(
    await Promise.all(
      lookUps.map(async (lookUp) => [lookUp, await redis.hgetall(GLOBAL_KEYS.apiKey(lookUp))] as const),
    ),
  );
}

function toFields({ id, workspaceId, scopes, createdAt, expiresAt }: ApiKey): Record<string, string> {
  return {
    id,
    scopes: scopes.join(','),
    createdAt: String(createdAt),
    ...(workspaceId !== undefined && { workspaceId }),
    ...(expiresAt !== undefined && { expiresAt: String(expiresAt) }),
  };
}

function fromFields(fields: Record<string, string>): ApiKey | undefined {
  const { id, workspaceId, scopes, createdAt, expiresAt, lastUsedAt } = fields;
  if (id === undefined || scopes === undefined) return undefined;
  return {
    id,
    scopes: SCOPES.filter((scope) => scopes.split(',').includes(scope)),
    createdAt: Number(createdAt),
    ...(workspaceId !== undefined && { workspaceId }),
    ...(expiresAt !== undefined && { expiresAt: Number(expiresAt) }),
    ...(lastUsedAt !== undefined && { lastUsedAt: Number(lastUsedAt) }),
  };
}
