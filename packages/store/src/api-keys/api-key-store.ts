import { randomBytes } from 'node:crypto';
import type { WorkspaceId } from '@herald/core';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { ReplicatedStoreDeps } from '../scripts/replicated-script.ts';
import { batchCalls } from '../scripts/batch-calls.ts';
import { GLOBAL_KEYS } from '../keyspace/keys.ts';
import { tellRevoked, type Told } from '../listening/listen-channel.ts';
import { defineScript } from '../scripts/script.ts';
import { demandReplicated } from '../scripts/await-replication.ts';
import { digestApiKey, isApiKeyText, isSameProof, newApiKey } from './api-key-text.ts';

/**
 * `approvals:any` adds to `tasks`: such a key also resolves what is not `api_resolvable`. `execute` and `platform` are for
 * keys of no workspace.
 */
export const SCOPES = ['webhooks', 'tasks', 'approvals:any', 'execute', 'platform'] as const;
export type Scope = (typeof SCOPES)[number];

/** The record of a key. The key itself is shown once and never stored. Times are epoch ms. */
export type ApiKey = {
  readonly id: string;
  /** The controller workspace; absent on the keys of executors and platforms, which are for every workspace. */
  readonly workspaceId?: WorkspaceId;
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly expiresAt?: number;
  /** About a minute behind at most; absent before the first use. */
  readonly lastUsedAt?: number;
  /** What it is for, in the words of whoever made it. */
  readonly name?: string;
};

export type NewApiKey = Pick<ApiKey, 'workspaceId' | 'scopes' | 'expiresAt' | 'name'>;

const KEYS_READ_TOGETHER = 100;
/** After this long, an entry without a record is one whose process died before it wrote the record, in ms. */
const MAKING_MS = 60_000;

/** The entry of a key in the index of workspaces. No workspace has a blank in its id. */
const entryOf = (workspaceId: WorkspaceId, { id, createdAt }: Pick<ApiKey, 'id' | 'createdAt'>) =>
  `${workspaceId} ${createdAt} ${id}`;

const WRITE_LAST_USE_LUA = /* lua */ `
-- Note when a key was used, unless it was revoked or has expired meanwhile.
-- KEYS[1] API key (hash)   ARGV[1] now (ms)
-- Returns 1 | 0 (there is no such key).
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'lastUsedAt', ARGV[1])
return 1
`;

export function createApiKeyStore(deps: ReplicatedStoreDeps & { readonly now: () => number }) {
  const { redis, awaitReplication, now } = deps;
  const writeLastUse = defineScript(redis, WRITE_LAST_USE_LUA);
  // Each request is answered by a look-up that begins after it came, so that a revoked key is refused at once. Requests
  // of one moment mostly have the same key and share the look-up.
  const readFields = batchCalls({
    async call(lookUps: readonly string[]) {
      const unique = [...new Set(lookUps)];
      const found = await Promise.all(unique.map((lookUp) => redis.hgetall(GLOBAL_KEYS.apiKey(lookUp))));
      return lookUps.map((lookUp) => found[unique.indexOf(lookUp)] ?? {});
    },
    limit: KEYS_READ_TOGETHER,
  });
  /** The record of the key with this id, if it is valid now. */
  const findById = async (id: string): Promise<ApiKey | undefined> => {
    const lookUp = await redis.hget(GLOBAL_KEYS.apiKeyIndex, id);
    const record = lookUp === null ? undefined : readApiKey(await redis.hgetall(GLOBAL_KEYS.apiKey(lookUp)));
    return record && (record.expiresAt ?? Infinity) > now() ? record : undefined;
  };
  /** The entries of a workspace in the index, oldest first, each with the record of its key while that is valid. */
  const readStates = async (workspaceId: WorkspaceId) => {
    const range = [`[${workspaceId} `, `(${workspaceId}!`, 'BYLEX'] as const;
    const entries = await redis.zrange(GLOBAL_KEYS.apiKeysOfWorkspaces, ...range);
    return await Promise.all(
      entries.map(async (entry) => {
        const [, createdAt, id = ''] = entry.split(' ');
        return { entry, createdAt: Number(createdAt), record: await findById(id) };
      }),
    );
  };

  return {
    /**
     * Stores a new key and returns it in clear, this once.
     * @throws UnavailableError when too few replicas have it in time
     */
    async create(request: NewApiKey) {
      const id = `key_${randomBytes(8).toString('hex')}`;
      const key = newApiKey(id);
      const { lookUp, proof } = digestApiKey(key);
      const record: ApiKey = { ...request, id, createdAt: now() };
      // The index first: a crash in between leaves an id that leads nowhere, never a key that nobody can revoke.
      await redis.hset(GLOBAL_KEYS.apiKeyIndex, record.id, lookUp);
      if (record.workspaceId !== undefined) {
        await redis.zadd(GLOBAL_KEYS.apiKeysOfWorkspaces, 0, entryOf(record.workspaceId, record));
      }
      await redis.hset(GLOBAL_KEYS.apiKey(lookUp), { ...record, scopes: record.scopes.join(','), proof });
      if (record.expiresAt !== undefined) await redis.pexpireat(GLOBAL_KEYS.apiKey(lookUp), record.expiresAt);
      await Promise.all([
        demandReplicated(awaitReplication, { key: GLOBAL_KEYS.apiKeyIndex, field: record.id }),
        demandReplicated(awaitReplication, { key: GLOBAL_KEYS.apiKey(lookUp) }),
      ]);
      return { key, record };
    },
    /** The record of a key that is valid now. A text without the form of a key costs no look-up. */
    find: async (key: string) => {
      if (!isApiKeyText(key)) return undefined;
      const { lookUp, proof } = digestApiKey(key);
      const fields = await readFields(lookUp);
      const record = readApiKey(fields);
      const isValid = record && isSameProof(proof, fields.proof) && (record.expiresAt ?? Infinity) > now();
      return isValid ? record : undefined;
    },
    findById,
    /** The valid keys of a workspace, newest first. */
    async listOf(workspaceId: WorkspaceId): Promise<readonly ApiKey[]> {
      return (await readStates(workspaceId)).flatMap(({ record }) => record ?? []).reverse();
    },
    /** Forgets the places of keys of a workspace that have ended. */
    async dropEnded(workspaceId: WorkspaceId): Promise<void> {
      const states = await readStates(workspaceId);
      const gone = states.filter(({ record, createdAt }) => !record && createdAt <= now() - MAKING_MS);
      if (gone.length > 0) await redis.zrem(GLOBAL_KEYS.apiKeysOfWorkspaces, ...gone.map(({ entry }) => entry));
    },
    async list(): Promise<readonly ApiKey[]> {
      const lookUps = Object.values(await redis.hgetall(GLOBAL_KEYS.apiKeyIndex));
      const records = await Promise.all(lookUps.map((lookUp) => redis.hgetall(GLOBAL_KEYS.apiKey(lookUp))));
      return records
        .map(readApiKey)
        .filter((record) => record !== undefined)
        .sort((a, b) => a.createdAt - b.createdAt);
    },
    /**
     * From the moment this resolves every process refuses the key, and its open streams end. Undefined when there is no
     * key with this id.
     * @throws UnavailableError when it is refused, and too few replicas know that in time
     */
    async revoke(id: string): Promise<Told | undefined> {
      const lookUp = await redis.hget(GLOBAL_KEYS.apiKeyIndex, id);
      if (lookUp === null) return undefined;
      const key = GLOBAL_KEYS.apiKey(lookUp);
      const [workspaceId, createdAt] = await redis.hmget(key, 'workspaceId', 'createdAt');
      await redis.del(key);
      // The keys of executors and platforms have no workspace, and may not listen.
      const told = workspaceId == null ? {} : await tellRevoked(redis, workspaceId);
      // Before the index forgets the key: a failover could bring it back, and nobody could revoke it.
      await demandReplicated(awaitReplication, { key, isGone: true });
      if (workspaceId != null) {
        await redis.zrem(GLOBAL_KEYS.apiKeysOfWorkspaces, entryOf(workspaceId, { id, createdAt: Number(createdAt) }));
      }
      return (await redis.hdel(GLOBAL_KEYS.apiKeyIndex, id)) > 0 ? told : undefined;
    },
    /** Notes that a key was used (epoch ms); does nothing when it is gone. */
    writeLastUse: async (id: string, at: number) => {
      const lookUp = await redis.hget(GLOBAL_KEYS.apiKeyIndex, id);
      if (lookUp !== null) await writeLastUse([GLOBAL_KEYS.apiKey(lookUp)], [at]);
    },
  };
}
export type ApiKeyStore = ReturnType<typeof createApiKeyStore>;

/** Enters the keys that a former version made into the index of workspaces. A second run changes nothing. */
export async function enterKeysOfWorkspaces(redis: RedisClient): Promise<void> {
  for (const lookUp of Object.values(await redis.hgetall(GLOBAL_KEYS.apiKeyIndex))) {
    const record = readApiKey(await redis.hgetall(GLOBAL_KEYS.apiKey(lookUp)));
    if (record?.workspaceId === undefined) continue;
    await redis.zadd(GLOBAL_KEYS.apiKeysOfWorkspaces, 0, entryOf(record.workspaceId, record));
  }
}

function readApiKey(fields: Record<string, string>): ApiKey | undefined {
  const { id, workspaceId, scopes, createdAt, expiresAt, lastUsedAt, name } = fields;
  if (id === undefined || scopes === undefined) return undefined;
  return {
    id,
    scopes: SCOPES.filter((scope) => scopes.split(',').includes(scope)),
    createdAt: Number(createdAt),
    ...(workspaceId !== undefined && { workspaceId }),
    ...(expiresAt !== undefined && { expiresAt: Number(expiresAt) }),
    ...(lastUsedAt !== undefined && { lastUsedAt: Number(lastUsedAt) }),
    ...(name !== undefined && { name }),
  };
}
