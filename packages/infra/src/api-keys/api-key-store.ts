import { randomBytes } from 'node:crypto';
import type { WorkspaceId } from '@herald/core';
import type { RedisClient } from '../redis/connect-redis.ts';
import { GLOBAL_KEYS } from '../redis/keys.ts';
import { hashApiKey, isApiKeyText, newApiKey } from './api-key-text.ts';

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
};

export type NewApiKey = Pick<ApiKey, 'workspaceId' | 'scopes' | 'expiresAt'>;

export type ApiKeyStore = {
  /** Stores a new key and returns it in clear, this once. */
  readonly create: (key: NewApiKey) => Promise<{ readonly key: string; readonly record: ApiKey }>;
  /** The record of a key that is valid now. */
  readonly find: (key: string) => Promise<ApiKey | undefined>;
  readonly list: () => Promise<readonly ApiKey[]>;
  /** From the moment this resolves every process refuses the key. False when there is none of this id. */
  readonly revoke: (id: string) => Promise<boolean>;
};

export type ApiKeyStoreDeps = { readonly redis: RedisClient; readonly now: () => number };

export function createApiKeyStore({ redis, now }: ApiKeyStoreDeps): ApiKeyStore {
  return {
    async create(request) {
      const key = newApiKey();
      const sha256 = hashApiKey(key);
      const record: ApiKey = { ...request, id: `key_${randomBytes(8).toString('hex')}`, createdAt: now() };
      // The index first: a crash in between leaves an id that leads nowhere, never a key that nobody can revoke.
      await redis.hset(GLOBAL_KEYS.apiKeyIndex, record.id, sha256);
      await redis.hset(GLOBAL_KEYS.apiKey(sha256), toFields(record));
      if (record.expiresAt !== undefined) await redis.pexpireat(GLOBAL_KEYS.apiKey(sha256), record.expiresAt);
      return { key, record };
    },
    async find(key) {
      if (!isApiKeyText(key)) return undefined;
      const record = fromFields(await redis.hgetall(GLOBAL_KEYS.apiKey(hashApiKey(key))));
      return record && (record.expiresAt ?? Infinity) > now() ? record : undefined;
    },
    async list() {
      const hashes = Object.values(await redis.hgetall(GLOBAL_KEYS.apiKeyIndex));
      const records = await Promise.all(hashes.map((sha256) => redis.hgetall(GLOBAL_KEYS.apiKey(sha256))));
      return records
        .map(fromFields)
        .filter((record) => record !== undefined)
        .sort((a, b) => a.createdAt - b.createdAt);
    },
    async revoke(id) {
      const sha256 = await redis.hget(GLOBAL_KEYS.apiKeyIndex, id);
      if (sha256 === null) return false;
      const removed = await redis.del(GLOBAL_KEYS.apiKey(sha256));
      await redis.hdel(GLOBAL_KEYS.apiKeyIndex, id);
      return removed > 0;
    },
  };
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

function fromFields({ id, workspaceId, scopes, createdAt, expiresAt }: Record<string, string>): ApiKey | undefined {
  if (id === undefined || scopes === undefined) return undefined;
  return {
    id,
    scopes: SCOPES.filter((scope) => scopes.split(',').includes(scope)),
    createdAt: Number(createdAt),
    ...(workspaceId !== undefined && { workspaceId }),
    ...(expiresAt !== undefined && { expiresAt: Number(expiresAt) }),
  };
}
