import type { WorkspaceId } from '@herald/core';
import { createBoundedMap } from '@herald/runtime/async';
import { chunksOf } from '@herald/runtime/chunks';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { GLOBAL_KEYS, type Keyspace } from '../keys/keys.ts';
import { tellRevoked, type Told } from '../listening/listeners.ts';
import { defineReplicatedScript, demandReplicated, type ReplicatedStoreDeps } from '../redis/await-replication.ts';
import { digestApiKey, isPortalTokenText, isSameProof, newPortalToken, type ApiKey } from './api-key-store.ts';

/** A link to the console of one workspace. Its token is shown once and never stored. Times are epoch ms. */
export type PortalLink = {
  readonly id: string;
  readonly workspaceId: WorkspaceId;
  readonly readOnly: boolean;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The API key by which a platform made it. Absent: an operator made it. */
  readonly keyId?: string;
  /** The user name of the operator who made it. Absent: a platform made it. */
  readonly operator?: string;
};

export type NewPortalLink = Pick<PortalLink, 'workspaceId' | 'readOnly'> & {
  /** How long it works, in ms. */
  readonly lifeMs: number;
  readonly madeBy: Pick<ApiKey, 'id' | 'expiresAt'> | { readonly operator: string };
};

/** Living links of a workspace that its keys and the platform's made, and as many that operators made. */
export const PORTAL_LINK_LIMIT = 100;
/** Links whose API keys are remembered. */
const MAKERS_LIMIT = 10_000;
/** After this long, an entry without a record is one whose process died before it wrote the record, in ms. */
const MAKING_MS = 60_000;
/** Workspaces whose entries are read at a time. */
const WORKSPACES_AT_ONCE = 100;

const ENTER_LUA = /* lua */ `
-- Enter a new link into the indexes, unless its workspace has as many as it may: operators' links count apart, so that
-- no tenant keeps operators out. What has ended leaves the indexes.
-- KEYS[1] links of the workspace (zset: entry, that of an operator ends in ':operator' → its end, ms)
-- KEYS[2] workspaces with links (zset: id → end of its last link, ms)
-- ARGV[1] limit   ARGV[2] now (ms)   ARGV[3] entry   ARGV[4] its end (ms)   ARGV[5] workspace
-- Returns 'entered' | 'full'.
local function enter(index, member)
  redis.call('ZADD', index, 'GT', ARGV[4], member)
  redis.call('PEXPIREAT', index, string.format('%.0f', redis.call('ZRANGE', index, -1, -1, 'WITHSCORES')[2]))
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[2])
local function isOperators(entry) return string.sub(entry, -9) == ':operator' end
local count = 0
for _, entry in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if isOperators(entry) == isOperators(ARGV[3]) then count = count + 1 end
end
if count >= tonumber(ARGV[1]) then return 'full' end
enter(KEYS[1], ARGV[3])
enter(KEYS[2], ARGV[5])
return 'entered'
`;
const EnterReply = z.enum(['entered', 'full']);

/** The members of the index of a workspace: the id, when it was entered, where the record is, and who made it. */
type Entry = {
  readonly id: string;
  readonly enteredAt: number;
  readonly lookUp: string;
  /** Not of those that an operator made before entries said so: they count as the tenant's for their last hour. */
  readonly isOperators: boolean;
};
const writeEntry = ({ id, enteredAt, lookUp, isOperators }: Entry) =>
  `${id}:${enteredAt}:${lookUp}${isOperators ? ':operator' : ''}`;
function readEntry(member: string): Entry {
  const [id = '', enteredAt, lookUp = '', maker] = member.split(':');
  return { id, enteredAt: Number(enteredAt), lookUp, isOperators: maker === 'operator' };
}

type PortalLinkStoreDeps = ReplicatedStoreDeps & {
  readonly keyspace: Keyspace;
  /** Epoch ms. */
  readonly now: () => number;
};

/**
 * A link's record is found by the digest of its token. The index of its workspace, by which it is listed and ended, has
 * an entry before there is a record: a crash in between leaves an entry that leads nowhere, which no list shows and
 * which leaves when the workspace is full or with its time, never a link that nobody can end.
 */
export function createPortalLinkStore(deps: PortalLinkStoreDeps) {
  const { redis, awaitReplication, keyspace, now } = deps;
  const enter = defineReplicatedScript(deps, ENTER_LUA);
  // Which key made a link never changes. Knowing it, a request asks for the link and for its key at once.
  const makers = createBoundedMap<string, string>(MAKERS_LIMIT);
  const hasKey = async (keyLookUp: string) => (await redis.exists(GLOBAL_KEYS.apiKey(keyLookUp))) > 0;
  const indexOf = (workspaceId: WorkspaceId) => keyspace.of(workspaceId).portalLinks(workspaceId);

  /** The entries of a workspace whose time is not over. */
  const readIndex = async (workspaceId: WorkspaceId) =>
    (await redis.zrange(indexOf(workspaceId), `(${now()}`, '+inf', 'BYSCORE')).map(readEntry);

  /** Each entry with what became of it. `making`: its record is not there yet. */
  const readStates = async (workspaceId: WorkspaceId) => {
    const entries = await readIndex(workspaceId);
    const records = await Promise.all(entries.map(({ lookUp }) => redis.hgetall(GLOBAL_KEYS.portalLink(lookUp))));
    const keyLookUps = [...new Set(records.flatMap(({ keyLookUp }) => keyLookUp ?? []))];
    const found = await Promise.all(keyLookUps.map(hasKey));
    const ended = new Set(keyLookUps.filter((_, index) => !found[index]));
    return entries.map((entry, index) => {
      const fields = records[index] ?? {};
      const link = readPortalLink(fields);
      if (!link) return { entry, state: entry.enteredAt > now() - MAKING_MS ? 'making' : 'gone' } as const;
      const isEnded = link.expiresAt <= now() || (fields.keyLookUp !== undefined && ended.has(fields.keyLookUp));
      return isEnded ? ({ entry, state: 'gone' } as const) : ({ entry, state: 'living', link } as const);
    });
  };

  /** Takes entries that lead nowhere out of the index, and those whose API keys are gone. */
  const dropGone = async (workspaceId: WorkspaceId): Promise<void> => {
    const gone = (await readStates(workspaceId)).filter(({ state }) => state === 'gone');
    if (gone.length > 0) await redis.zrem(indexOf(workspaceId), ...gone.map(({ entry }) => writeEntry(entry)));
  };

  /** The living links of a workspace, newest first. */
  const list = async (workspaceId: WorkspaceId): Promise<PortalLink[]> => {
    const states = await readStates(workspaceId);
    const links = states.flatMap((each) => (each.state === 'living' ? [each.link] : []));
    return links.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
  };

  /** Workspaces that have links, or had some until lately. */
  const listWorkspaces = async (): Promise<WorkspaceId[]> => {
    const found = await Promise.all(
      keyspace.shards.map(({ portalWorkspaces }) => redis.zrange(portalWorkspaces, `(${now()}`, '+inf', 'BYSCORE')),
    );
    return found.flat().sort();
  };

  return {
    /**
     * Stores a new link, and returns its token in clear, this once. `key_ended`: the API key was revoked meanwhile.
     * `full`: the workspace has as many living links as it may, of its own or of operators.
     * @throws UnavailableError when too few replicas have it in time
     */
    async create({ workspaceId, readOnly, lifeMs, madeBy }: NewPortalLink) {
      const createdAt = now();
      const isOperators = 'operator' in madeBy;
      const keyLookUp = isOperators ? undefined : await redis.hget(GLOBAL_KEYS.apiKeyIndex, madeBy.id);
      if (keyLookUp === null) return 'key_ended';
      const keyEndsAt = isOperators ? Infinity : (madeBy.expiresAt ?? Infinity);
      const link: PortalLink = {
        id: `plk_${randomBytes(8).toString('hex')}`,
        workspaceId,
        readOnly,
        createdAt,
        expiresAt: Math.min(createdAt + lifeMs, keyEndsAt),
        ...(isOperators ? { operator: madeBy.operator } : { keyId: madeBy.id }),
      };
      const token = newPortalToken();
      const { lookUp, proof } = digestApiKey(token);
      const indexes = [indexOf(workspaceId), keyspace.of(workspaceId).portalWorkspaces];
      const entry = writeEntry({ id: link.id, enteredAt: createdAt, lookUp, isOperators });
      const tryToEnter = async () =>
        EnterReply.parse(await enter(indexes, [PORTAL_LINK_LIMIT, now(), entry, link.expiresAt, workspaceId]));
      if ((await tryToEnter()) === 'full') {
        await dropGone(workspaceId);
        // Also when it dropped none: another request may have.
        if ((await tryToEnter()) === 'full') return 'full';
      }
      const key = GLOBAL_KEYS.portalLink(lookUp);
      const fields = { ...link, readOnly: readOnly ? '1' : '0', proof, ...(keyLookUp !== undefined && { keyLookUp }) };
      await redis.multi().hset(key, fields).pexpireat(key, link.expiresAt).exec();
      await demandReplicated(awaitReplication, { key });
      return { token, link };
    },
    /** The link of a token, if it works now. It ends with the API key that made it. */
    find: async (token: string): Promise<PortalLink | undefined> => {
      if (!isPortalTokenText(token)) return undefined;
      const { lookUp, proof } = digestApiKey(token);
      const knownMaker = makers.get(lookUp);
      const [fields, hasKnownMaker] = await Promise.all([
        redis.hgetall(GLOBAL_KEYS.portalLink(lookUp)),
        knownMaker !== undefined && hasKey(knownMaker),
      ]);
      const link = readPortalLink(fields);
      if (!link || !isSameProof(proof, fields.proof) || link.expiresAt <= now()) return undefined;
      const { keyLookUp } = fields;
      if (keyLookUp === undefined) return link;
      if (keyLookUp === knownMaker) return hasKnownMaker ? link : undefined;
      makers.set(lookUp, keyLookUp);
      return (await hasKey(keyLookUp)) ? link : undefined;
    },
    list,
    /** The living links of every workspace, by workspace, and then newest first. */
    async *listAll(): AsyncGenerator<readonly PortalLink[]> {
      for (const some of chunksOf(await listWorkspaces(), WORKSPACES_AT_ONCE)) {
        yield (await Promise.all(some.map(list))).flat();
      }
    },
    /** The workspace of a link, for operators, who have its id alone. Undefined when no living link has it. */
    async findWorkspace(id: string): Promise<WorkspaceId | undefined> {
      for (const some of chunksOf(await listWorkspaces(), WORKSPACES_AT_ONCE)) {
        const indexes = await Promise.all(some.map(readIndex));
        const found = some.find((_, index) => indexes[index]?.some((entry) => entry.id === id));
        if (found !== undefined) return found;
      }
      return undefined;
    },
    /**
     * From the moment this resolves every process refuses the link, and its open streams end. Undefined when the
     * workspace has no link with this id.
     * @throws UnavailableError when it is refused, and too few replicas know that in time
     */
    async revoke(workspaceId: WorkspaceId, id: string): Promise<Told | undefined> {
      const entry = (await readIndex(workspaceId)).find((each) => each.id === id);
      if (!entry) return undefined;
      const key = GLOBAL_KEYS.portalLink(entry.lookUp);
      await redis.del(key);
      const told = await tellRevoked(redis, workspaceId);
      // Before the index forgets the link: a failover could bring it back, and nobody could end it.
      await demandReplicated(awaitReplication, { key, isGone: true });
      return (await redis.zrem(indexOf(workspaceId), writeEntry(entry))) > 0 ? told : undefined;
    },
  };
}
export type PortalLinkStore = ReturnType<typeof createPortalLinkStore>;

/** Who made a link, for people and programs: the id of an API key, or `operator`. */
export function makerOf({ keyId }: Pick<PortalLink, 'keyId'>): string {
  return keyId ?? 'operator';
}

function readPortalLink(fields: Record<string, string>): PortalLink | undefined {
  const { id, workspaceId, createdAt, expiresAt, readOnly, keyId, operator } = fields;
  if (id === undefined || workspaceId === undefined) return undefined;
  return {
    id,
    workspaceId,
    readOnly: readOnly === '1',
    createdAt: Number(createdAt),
    expiresAt: Number(expiresAt),
    ...(keyId !== undefined && { keyId }),
    ...(operator !== undefined && { operator }),
  };
}
