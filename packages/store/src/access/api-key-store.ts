import type { WorkspaceId } from '@herald/core';
import { mapInChunks } from '@herald/runtime/chunks';
import { hash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { GLOBAL_KEYS } from '../keys/keys.ts';
import { tellRevoked, type Told } from '../listening/listeners.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { defineReplicatedScript, demandReplicated, type ReplicatedStoreDeps } from '../redis/await-replication.ts';
import { batchCalls } from '../redis/batch-calls.ts';
import { defineScript } from '../redis/script.ts';

/**
 * `approvals:any` adds to `tasks`: such a key also resolves what is not `api_resolvable`. `execute` and `platform` are for
 * keys of no workspace.
 */
export const SCOPES = ['webhooks', 'tasks', 'approvals:any', 'execute', 'platform'] as const;
export type Scope = (typeof SCOPES)[number];

/** Why a key with these scopes makes no sense, or undefined. */
export function judgeScopes(scopes: readonly Scope[]): string | undefined {
  if (!scopes.includes('approvals:any') || scopes.includes('tasks')) return undefined;
  return 'must have tasks beside approvals:any, which adds to it and permits nothing alone';
}

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

/** Keys of a workspace, however they were made, beyond which `createLimited` makes no more. */
export const API_KEY_LIMIT = 100;

const KEYS_READ_TOGETHER = 100;
/** After this long, an entry without a record is one whose process died before it wrote the record, in ms. */
const MAKING_MS = 60_000;

/** The owner, in the index of workspaces, of the keys of executors and platforms. */
const NO_WORKSPACE = '';
/** The entry of a key in the index of workspaces. No workspace has a blank in its id. */
const entryOf = (workspaceId: WorkspaceId, { id, createdAt }: Pick<ApiKey, 'id' | 'createdAt'>) =>
  `${workspaceId} ${createdAt} ${id}`;
/** All of a workspace, or of none, as a range by name. */
const entriesOf = (workspaceId: WorkspaceId) => [`[${workspaceId} `, `(${workspaceId}!`] as const;

const ENTER_KEY_LUA = /* lua */ `
-- Enter a new API key into the index of workspaces, unless its workspace has as many as it may. A second run changes
-- nothing.
-- KEYS[1] API keys by workspace (zset: see entryOf)
-- ARGV[1] limit, 'inf' for none   ARGV[2], ARGV[3] range of the entries of the workspace   ARGV[4] the new entry
-- Returns 'entered' | 'full'.
if redis.call('ZSCORE', KEYS[1], ARGV[4]) then return 'entered' end
if redis.call('ZLEXCOUNT', KEYS[1], ARGV[2], ARGV[3]) >= tonumber(ARGV[1]) then return 'full' end
redis.call('ZADD', KEYS[1], 0, ARGV[4])
return 'entered'
`;
const EnterReply = z.enum(['entered', 'full']);

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
  const enter = defineReplicatedScript(deps, ENTER_KEY_LUA);
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
  /** The entries of a workspace, or of none, oldest first, each with the record of its key while that is valid. */
  const readStates = async (workspaceId: WorkspaceId) => {
    const entries = await redis.zrange(GLOBAL_KEYS.apiKeysOfWorkspaces, ...entriesOf(workspaceId), 'BYLEX');
    return await mapInChunks(entries, KEYS_READ_TOGETHER, async (entry) => {
      const [, createdAt, id = ''] = entry.split(' ');
      return { entry, id, createdAt: Number(createdAt), record: await findById(id) };
    });
  };
  /** Forgets the ids and the places of keys of a workspace, or of NO_WORKSPACE, that have ended. */
  const dropEnded = async (workspaceId: WorkspaceId): Promise<void> => {
    const states = await readStates(workspaceId);
    const gone = states.filter(({ record, createdAt }) => !record && createdAt <= now() - MAKING_MS);
    if (gone.length === 0) return;
    // The ids first: after a crash in between, the places still lead here.
    await redis.hdel(GLOBAL_KEYS.apiKeyIndex, ...gone.map(({ id }) => id));
    await redis.zrem(GLOBAL_KEYS.apiKeysOfWorkspaces, ...gone.map(({ entry }) => entry));
  };
  const newRecord = (request: NewApiKey): ApiKey => ({
    ...request,
    id: `key_${randomBytes(8).toString('hex')}`,
    createdAt: now(),
  });
  /** Those that have ended give up their places first. */
  const enterRecord = async (record: ApiKey, limit: number | 'inf') => {
    const owner = record.workspaceId ?? NO_WORKSPACE;
    await dropEnded(owner);
    const args = [limit, ...entriesOf(owner), entryOf(owner, record)];
    return EnterReply.parse(await enter([GLOBAL_KEYS.apiKeysOfWorkspaces], args));
  };
  /** The indexes come first: a crash in between leaves an id that leads nowhere, never a key that nobody can revoke. */
  const write = async (record: ApiKey) => {
    const key = newApiKey(record.id);
    const { lookUp, proof } = digestApiKey(key);
    await redis.hset(GLOBAL_KEYS.apiKeyIndex, record.id, lookUp);
    await redis.hset(GLOBAL_KEYS.apiKey(lookUp), { ...record, scopes: record.scopes.join(','), proof });
    // Again: had this process stood still for MAKING_MS, its id would have been dropped.
    await redis.hset(GLOBAL_KEYS.apiKeyIndex, record.id, lookUp);
    if (record.expiresAt !== undefined) await redis.pexpireat(GLOBAL_KEYS.apiKey(lookUp), record.expiresAt);
    await Promise.all([
      demandReplicated(awaitReplication, { key: GLOBAL_KEYS.apiKeyIndex, field: record.id }),
      demandReplicated(awaitReplication, { key: GLOBAL_KEYS.apiKey(lookUp) }),
    ]);
    return { key, record };
  };

  return {
    /**
     * Stores a new key and returns it in clear, this once.
     * @throws UnavailableError when too few replicas have it in time
     */
    async create(request: NewApiKey) {
      const record = newRecord(request);
      await enterRecord(record, 'inf');
      return await write(record);
    },
    /** The same, unless its workspace has `API_KEY_LIMIT` keys already: `full`. */
    async createLimited(request: NewApiKey & { readonly workspaceId: WorkspaceId }) {
      const record = newRecord(request);
      if ((await enterRecord(record, API_KEY_LIMIT)) === 'full') return 'full';
      return await write(record);
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
    dropEnded,
    async list(): Promise<readonly ApiKey[]> {
      const lookUps = Object.values(await redis.hgetall(GLOBAL_KEYS.apiKeyIndex));
      const records = await mapInChunks(lookUps, KEYS_READ_TOGETHER, (lookUp) =>
        redis.hgetall(GLOBAL_KEYS.apiKey(lookUp)),
      );
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
      const entry = entryOf(workspaceId ?? NO_WORKSPACE, { id, createdAt: Number(createdAt) });
      await redis.zrem(GLOBAL_KEYS.apiKeysOfWorkspaces, entry);
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

/**
 * Enters the keys that a former version made into the index of workspaces, and forgets the ids of those that have
 * expired. A second run changes nothing.
 */
export async function enterKeysOfWorkspaces(redis: RedisClient): Promise<void> {
  for (const [id, lookUp] of Object.entries(await redis.hgetall(GLOBAL_KEYS.apiKeyIndex))) {
    const record = readApiKey(await redis.hgetall(GLOBAL_KEYS.apiKey(lookUp)));
    if (record) {
      await redis.zadd(GLOBAL_KEYS.apiKeysOfWorkspaces, 0, entryOf(record.workspaceId ?? NO_WORKSPACE, record));
    } else {
      await redis.hdel(GLOBAL_KEYS.apiKeyIndex, id);
    }
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

const PREFIX = 'hrld_';
/** Of the id of a key. */
const ID_PREFIX = 'key_';
/** Of the token of a portal link. */
const PORTAL_PREFIX = 'hrlp_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_CHARACTERS = 32;
const CHECKSUM_CHARACTERS = 6;

/**
 * `hrld_`, the 16 hex digits of the key's id, `_`, 32 random base62 characters (190 bits), and 6 of CRC32 over all that
 * is between `hrld_` and them: secret scanners tell a key from noise, and whoever finds one sees which it is.
 * @param id `key_` and 16 hex digits
 */
export const newApiKey = (id: string) => newText(PREFIX, `${id.slice(ID_PREFIX.length)}_`);

/** `hrlp_`, 32 random base62 characters, and 6 of CRC32 over them. */
export const newPortalToken = () => newText(PORTAL_PREFIX);

/** Whether a text has the form and the checksum of a key: most wrong keys need no look-up. Former keys have no id. */
export const isApiKeyText = (text: string) => hasForm(text, PREFIX, /^((?:[0-9a-f]{16}_)?[0-9A-Za-z]{32})(.{6})$/);

/** The same of the token of a portal link. */
export const isPortalTokenText = (text: string) => hasForm(text, PORTAL_PREFIX, /^([0-9A-Za-z]{32})(.{6})$/);

/** Whether somebody meant to send the token of a portal link, a cut one too. */
export const looksLikePortalToken = (text: string) => text.startsWith(PORTAL_PREFIX);

/** The id that the text of a key carries. Undefined for keys that were made before texts had one. */
export function keyIdIn(text: string): string | undefined {
  const [, digits] = /^hrld_([0-9a-f]{16})_/.exec(text) ?? [];
  return digits === undefined ? undefined : ID_PREFIX + digits;
}

function newText(prefix: string, before = ''): string {
  let random = '';
  while (random.length < RANDOM_CHARACTERS) random += ALPHABET.charAt(randomInt(ALPHABET.length));
  return prefix + before + random + checksumOf(before + random);
}

function hasForm(text: string, prefix: string, form: RegExp): boolean {
  const [, covered, checksum] = form.exec(text.startsWith(prefix) ? text.slice(prefix.length) : '') ?? [];
  return covered !== undefined && checksum === checksumOf(covered);
}

/** The stored forms of a key, in hex: the SHA-256 that its record is found by, and another that proves the record. */
export function digestApiKey(key: string) {
  return { lookUp: hash('sha256', key, 'hex'), proof: hash('sha256', `proof ${key}`, 'hex') };
}

/** Compares in constant time. Records of release 0.1.0 have no proof: the SHA-256 that found them is proof enough. */
export function isSameProof(given: string, stored: string | undefined): boolean {
  if (stored === undefined) return true;
  const [a, b] = [Buffer.from(given), Buffer.from(stored)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function checksumOf(covered: string): string {
  let rest = crc32(covered);
  let text = '';
  while (text.length < CHECKSUM_CHARACTERS) {
    text = ALPHABET.charAt(rest % ALPHABET.length) + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}
