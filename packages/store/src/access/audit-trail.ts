import { plainText, whileAvailable, type AuditQuery, type WorkspaceId } from '@herald/core';
import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { PLATFORM_OWNER, type Keyspace, type ShardKeys } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../redis/await-replication.ts';
import { defineScript } from '../redis/script.ts';

/** Somebody changed something. */
export type AuditEntry = {
  /** `<ms>-<number>`, both of fixed width: ids of all shards sort by time, as texts too, and none is given twice. */
  readonly id: string;
  /** Epoch ms. */
  readonly at: number;
  /** `key_…`, `plk_…`, `operator` or `cli`. */
  readonly by: string;
  /** The operator's user name, also of a link that an operator made; for the CLI the user of the system; `platform` of a platform key. */
  readonly user?: string;
  /** The id of an operation, such as `changeReceiver`, or a name like it. */
  readonly action: string;
  /** The id of what was changed. */
  readonly target?: string;
  /** Absent: it was nothing of one workspace. */
  readonly workspaceId?: WorkspaceId;
  readonly address?: string;
  readonly requestId?: string;
  /** Names of the fields that were given. Never their values. */
  readonly fields?: readonly string[];
  readonly reason?: string;
};
export type NewAuditEntry = Omit<AuditEntry, 'id' | 'at'>;

/** The user of what is done with a platform key. */
export const PLATFORM_USER = 'platform';

/** An entry as the fields of its line in the log, `audit.entry`. */
export function toAuditLine<Entry extends NewAuditEntry>({ fields, ...facts }: Entry) {
  return { ...facts, ...(fields && { fields: fields.join(',') }) };
}

/** Who can have done something. */
export const DOER = /^(?:(?:key|plk)_[0-9a-f]+|operator|cli)$/;

export type AuditPage = {
  readonly entries: readonly AuditEntry[];
  /** There may be more: pass it as `before`. A page with few entries may have it too, since a page reads only so much. */
  readonly next?: string;
  /** The history couldn't be read, so that older entries may be missing. */
  readonly isPartial?: true;
};

/** Reads what was copied there, the newest first. Throws HistoryUnavailableError when the answer would take too long. */
export type AuditHistory = { listAudit(query: AuditQuery): Promise<readonly unknown[]> };

type AuditTrailDeps = ReplicatedStoreDeps & {
  readonly keyspace: Keyspace;
  /** Absent: only what is in Redis is listed. */
  readonly history?: AuditHistory | undefined;
  /** Entries that each shard keeps. */
  readonly length: number;
  /** Redis' time, epoch ms. */
  readonly now: () => number;
};

/** Entries that a page reads, over all shards. */
const READ_LIMIT = 20_000;
const STEP = 500;
/** Entries that go at most when one is added: more than one, so that a smaller length takes effect. */
const GO_AT_ONCE = 10;

/** An entry whose reply was lost is sent again at once: it is among so many latest ones. */
const SENT_AGAIN_WITHIN = 20;

/** Characters of each text of an entry, and names of fields. Entries are written whole, so what is longer is cut. */
const LIMITS = { by: 64, user: 128, action: 64, target: 128, workspaceId: 128, address: 64, requestId: 128 };
const REASON_LIMIT = 200;
const FIELDS_LIMIT = 20;

/** Numbers of 15 digits below 2^48. */
const NUMBERS = [100_000_000_000_000, 2 ** 48 - 1] as const;

/**
 * `appendEntry(trail, owners, ids, id, owner, entry)` writes an entry and counts it; the id must be the latest.
 * trail: stream; owners: zset by number of entries, among equal ones who was quiet for longest is first; ids: zset of
 * '<owner> <id>', all with score 0.
 */
export const APPEND_ENTRY_LUA = /* lua */ `
local function appendEntry(trail, owners, ids, id, owner, entry)
  local known = math.floor(tonumber(redis.call('ZSCORE', owners, owner) or 0))
  local seconds = math.floor(tonumber(string.match(id, '^%d+')) / 1000)
  redis.call('XADD', trail, id, 'entry', entry)
  redis.call('ZADD', owners, known + 1 + (1 - seconds / 2 ^ 33), owner)
  redis.call('ZADD', ids, 0, owner .. ' ' .. id)
end
`;

const ADD_ENTRY_LUA = /* lua */ `#!lua flags=allow-oom
-- Add an entry to the trail of a shard. While the trail is too long, the owner with most entries gives its oldest, so
-- that nobody pushes out what others have. The platform gives none while it has at most half of the trail: not even many
-- workspaces together can push out what was done to them.
-- A full Redis refuses the first write, and keys of another type fail before it: then nothing is written.
-- KEYS[1] trail (stream)   KEYS[2] owners (zset)   KEYS[3] ids by owner (zset)
-- ARGV[1] time (ms)   ARGV[2] number   ARGV[3] owner   ARGV[4] entry (JSON)   ARGV[5] length   ARGV[6] at most so many go
-- The number is the mark of this call: when its reply was lost, and it is sent again, the entry stands there already.
-- Returns the entry's id: <time>-<number>, with the next time that is free when the trail has a later entry.
${APPEND_ENTRY_LUA}
for _, row in ipairs(redis.call('XREVRANGE', KEYS[1], '+', ARGV[1], 'COUNT', ${SENT_AGAIN_WITHIN})) do
  if string.match(row[1], '%d+$') == ARGV[2] then return row[1] end
end
local id = ARGV[1] .. '-' .. ARGV[2]
if redis.call('EXISTS', KEYS[1]) == 1 then
  local info = redis.call('XINFO', 'STREAM', KEYS[1])
  for index = 1, #info, 2 do
    if info[index] == 'last-generated-id' and info[index + 1] >= id then
      local time, number = string.match(info[index + 1], '^(%d+)-(%d+)$')
      if number >= ARGV[2] then time = string.format('%.0f', tonumber(time) + 1) end
      id = time .. '-' .. ARGV[2]
    end
  end
end
redis.call('ZCARD', KEYS[3])
appendEntry(KEYS[1], KEYS[2], KEYS[3], id, ARGV[3], ARGV[4])

local length = tonumber(ARGV[5])
for _ = 1, tonumber(ARGV[6]) do
  if redis.call('XLEN', KEYS[1]) <= length then break end
  local first = redis.call('ZRANGE', KEYS[2], 0, 1, 'REV', 'WITHSCORES')
  local owner, score = first[1], tonumber(first[2])
  if owner == '${PLATFORM_OWNER}' and first[3] and math.floor(score) <= length / 2 then
    owner, score = first[3], tonumber(first[4])
  end
  local oldest = redis.call('ZRANGE', KEYS[3], '[' .. owner .. ' ', '(' .. owner .. '!', 'BYLEX', 'LIMIT', 0, 1)[1]
  if not oldest then
    redis.call('ZREM', KEYS[2], owner)
  else
    redis.call('XDEL', KEYS[1], string.match(oldest, '[^ ]+$'))
    redis.call('ZREM', KEYS[3], oldest)
    if score < 2 then redis.call('ZREM', KEYS[2], owner) else redis.call('ZADD', KEYS[2], score - 1, owner) end
  end
end
return id
`;

/** Neither the time nor the number begins with 0: Redis takes no such id for the end of a range. */
const ID = /^[1-9]\d{12}-[1-9]\d{14}$/;
const Id = z.string().regex(ID);
const Row = z.tuple([Id, z.tuple([z.literal('entry'), z.string()])]);
const Stored = z.object({
  by: z.string(),
  user: z.string().exactOptional(),
  action: z.string(),
  target: z.string().exactOptional(),
  workspaceId: z.string().exactOptional(),
  address: z.string().exactOptional(),
  requestId: z.string().exactOptional(),
  fields: z.array(z.string()).exactOptional(),
  reason: z.string().exactOptional(),
});
const Entry = Stored.extend({ id: Id, at: z.number() });

/** Who did what, in each shard: its workspaces' entries, and in the first one those of no workspace. */
export function createAuditTrail(deps: AuditTrailDeps) {
  const { redis, keyspace, history, length, now } = deps;
  const add = defineReplicatedScript(deps, ADD_ENTRY_LUA);
  const list = async (query: AuditQuery): Promise<AuditPage> => {
    const { workspaceId } = query;
    // What the CLI did before there was any number of shards is in the first one.
    const wanted = workspaceId === undefined ? keyspace.shards : [keyspace.of(workspaceId), trailOf(keyspace)];
    const shards = [...new Set(wanted)];
    const most = Math.ceil(READ_LIMIT / shards.length);
    const parts = await Promise.all(shards.map((keys) => readPart(redis, keys, query, most)));
    const page = mergeParts(parts, query.limit);
    if (!history) return page;
    const past = await whileAvailable(history.listAudit(query), page.entries.length > 0 || page.next !== undefined);
    if (!past) return { ...page, isPartial: true };
    const entries = past.map((entry) => Entry.parse(entry));
    const reached = entries.length === query.limit ? entries.at(-1)?.id : undefined;
    return mergeParts([...parts, { entries, ...(reached !== undefined && { reached }) }], query.limit);
  };
  return {
    /**
     * Adds an entry. Once this resolves, it stands. Texts that are too long are cut, and control characters taken out.
     * @throws UnavailableError when too few replicas have it in time
     */
    async add(entry: NewAuditEntry): Promise<AuditEntry> {
      const bounded = boundEntry(entry);
      const keys = trailOf(keyspace, bounded.workspaceId);
      const args = [now(), randomInt(...NUMBERS), ownerOf(bounded), JSON.stringify(bounded), length, GO_AT_ONCE];
      const id = Id.parse(await add([keys.audit, keys.auditOwners, keys.auditIds], args));
      return { id, at: timeOf(id), ...bounded };
    },
    /**
     * Reads a page, the newest entries first: of those in Redis and those in history alike.
     * @throws HistoryUnavailableError when Redis has nothing to show and history can't be read
     */
    list,
    /**
     * As `list`, but goes on until it has as many as are wanted, or has seen all.
     * @throws HistoryUnavailableError when Redis has nothing to show and history can't be read
     */
    async find(query: AuditQuery): Promise<AuditPage> {
      const entries: AuditEntry[] = [];
      for (let { before } = query; ;) {
        const page = await list({ ...query, before, limit: query.limit - entries.length });
        entries.push(...page.entries);
        before = page.next;
        if (before === undefined || entries.length >= query.limit || page.isPartial) return { ...page, entries };
      }
    },
  };
}
export type AuditTrail = ReturnType<typeof createAuditTrail>;

/** The keys of the shard that has the entries of a workspace, or of none. */
export function trailOf(keyspace: Keyspace, workspaceId?: WorkspaceId): ShardKeys {
  const keys = workspaceId === undefined ? keyspace.shards[0] : keyspace.of(workspaceId);
  if (!keys) throw new RangeError('there is always a first shard');
  return keys;
}

/**
 * Whose entry it is when one must go. What the platform did to a workspace is the platform's: the workspace can't push
 * it out with entries of its own.
 */
export function ownerOf({ by, user, workspaceId }: Pick<AuditEntry, 'by' | 'user' | 'workspaceId'>): string {
  const isPlatform = by === 'operator' || by === 'cli' || user === PLATFORM_USER;
  return workspaceId === undefined || isPlatform ? PLATFORM_OWNER : workspaceId;
}

function boundEntry({ fields, reason, ...texts }: NewAuditEntry): NewAuditEntry {
  const bounded = Object.entries(LIMITS).flatMap(([name, limit]) => {
    const text = texts[name as keyof typeof LIMITS];
    return text === undefined ? [] : [[name, boundText(text, limit)] as const];
  });
  return Stored.parse({
    ...Object.fromEntries(bounded),
    ...(fields && { fields: fields.slice(0, FIELDS_LIMIT).map((name) => boundText(name, LIMITS.target)) }),
    ...(reason !== undefined && { reason: boundText(reason, REASON_LIMIT) }),
  });
}

function boundText(text: string, limit: number): string {
  return Array.from(plainText(text.slice(0, 2 * limit)))
    .slice(0, limit)
    .join('');
}

export const isAuditId = (text: string): boolean => ID.test(text);

/** The time that an entry's id has, epoch ms. */
function timeOf(id: string): number {
  return Number(id.split('-')[0]);
}

/** Parses a row of a trail. */
export function readAuditRow(row: unknown): AuditEntry {
  const [id, [, text]] = Row.parse(row);
  return { id, at: timeOf(id), ...Stored.parse(JSON.parse(text)) };
}

/** Entries of one place that fit, the newest first. */
type AuditPart = {
  readonly entries: readonly AuditEntry[];
  /** Further entries may be before this one; absent: these are all. */
  readonly reached?: string;
};

async function readPart(redis: RedisClient, keys: ShardKeys, query: AuditQuery, most: number): Promise<AuditPart> {
  const { workspaceId, by, since, limit, before } = query;
  const fits = (entry: AuditEntry) =>
    (workspaceId === undefined || entry.workspaceId === workspaceId) && (by === undefined || entry.by === by);
  const step = workspaceId === undefined && by === undefined ? Math.min(STEP, limit + 1) : STEP;
  // Redis knows no id of a time before 1970.
  const first = since === undefined ? '-' : String(Math.max(0, since));
  const entries: AuditEntry[] = [];
  let reached = before;
  for (let looked = 0; looked < most && entries.length <= limit;) {
    const count = Math.min(step, most - looked);
    const from = reached === undefined ? '+' : `(${reached}`;
    const rows = await redis.xrevrange(keys.audit, from, first, 'COUNT', count);
    const some = rows.map(readAuditRow);
    entries.push(...some.filter(fits));
    reached = some.at(-1)?.id ?? reached;
    if (some.length < count) return { entries };
    looked += count;
  }
  return { entries, ...(reached !== undefined && { reached }) };
}

/** A page of what several places have, some of it in more than one. What one of them hasn't reached yet comes later. */
function mergeParts(parts: readonly AuditPart[], limit: number): AuditPage {
  const reached = parts.map((part) => part.reached ?? '').reduce((a, b) => (a > b ? a : b), '');
  const byId = new Map(parts.flatMap(({ entries }) => entries.map((entry) => [entry.id, entry] as const)));
  const entries = [...byId.values()].filter(({ id }) => id >= reached).sort((a, b) => (a.id < b.id ? 1 : -1));
  const page = entries.slice(0, limit);
  const next = entries.length > limit ? page.at(-1)?.id : reached;
  return { entries: page, ...(next && { next }) };
}

/** What goes on with entries: `log` tells those of the CLI, `history` takes all. */
export type AuditFollowing = 'log' | 'history';

type AuditStep = {
  readonly entries: readonly AuditEntry[];
  /** The last entry that the follower had before; '' for none. */
  readonly from: string;
};

const ADVANCE_LUA = /* lua */ `#!lua flags=allow-oom
-- Note how far a follower is, unless another process has gone on from the same place.
-- KEYS[1] followers (hash)   ARGV[1] its name   ARGV[2] the id it went on from, or ''   ARGV[3] the id it is at
-- Returns 1 | 0.
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
`;

/** Follows the trail of a shard, from where any process has left it. Entries that have gone meanwhile are passed over. */
export function createAuditFollower({ redis, keys }: { readonly redis: RedisClient; readonly keys: ShardKeys }) {
  const advance = defineScript(redis, ADVANCE_LUA);
  return {
    /** The next entries, the oldest first. */
    async next(following: AuditFollowing, limit: number): Promise<AuditStep> {
      const from = (await redis.hget(keys.auditFollowers, following)) ?? '';
      const rows = await redis.xrange(keys.audit, from === '' ? '-' : `(${from}`, '+', 'COUNT', limit);
      return { entries: rows.map(readAuditRow), from };
    },
    /** False when another process has taken these entries. */
    async advance(following: AuditFollowing, { entries, from }: AuditStep): Promise<boolean> {
      const reply = await advance([keys.auditFollowers], [following, from, entries.at(-1)?.id ?? from]);
      return z.number().parse(reply) === 1;
    },
  };
}
export type AuditFollower = ReturnType<typeof createAuditFollower>;
