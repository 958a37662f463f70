import { ConfigError } from '@herald/runtime/env';
import {
  type AuditFollowing,
  APPEND_ENTRY_LUA,
  type AuditEntry,
  ownerOf,
  readAuditRow,
  trailOf,
} from '@herald/store/access/audit-trail';
import { createShardKeys, GLOBAL_KEYS, type ShardKeys, SHARD_TAGS } from '@herald/store/keys/keys';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { randomToken } from '@herald/store/redis/random-token';
import { defineScript } from '@herald/store/redis/script';
import type { ShardRecordStore } from '@herald/store/data/shard-record';
import type { MoveDeps } from './move-records.ts';

const FOLLOWERS: readonly AuditFollowing[] = ['log', 'history'];
/** Entries in one step. */
const PAGE = 500;
const COPIED_AT_ONCE = 100;

const COPY_ENTRIES_LUA = /* lua */ `
-- Append entries to a copy of a trail, and make it when there is none. It is there then, though it may be empty: one that
-- isn't there was put in place. Entries that it has already are passed over.
-- KEYS[1] trail (stream)   KEYS[2] owners (zset)   KEYS[3] ids by owner (zset)
-- ARGV[1..] id, owner and JSON of each, the oldest first
-- Returns how many it appended.
${APPEND_ENTRY_LUA}
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('XADD', KEYS[1], '0-1', 'entry', '') end
redis.call('XDEL', KEYS[1], '0-1')
local info, last, count = redis.call('XINFO', 'STREAM', KEYS[1]), '', 0
for index = 1, #info, 2 do
  if info[index] == 'last-generated-id' then last = info[index + 1] end
end
for index = 1, #ARGV, 3 do
  if ARGV[index] > last then
    appendEntry(KEYS[1], KEYS[2], KEYS[3], ARGV[index], ARGV[index + 1], ARGV[index + 2])
    count = count + 1
  end
end
return count
`;

const PUT_IN_PLACE_LUA = /* lua */ `
-- Put the copy of a trail in the place of the trail.
-- KEYS[1..4] the copy: trail (stream), owners (zset), ids (zset), followers (hash)   KEYS[5..8] the same in place
-- Returns 1, or 0 when that is done already.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if redis.call('XLEN', KEYS[1]) == 0 then
  redis.call('DEL', unpack(KEYS, 2))
  redis.call('DEL', KEYS[1])
  return 1
end
-- One that has entries has all parts: a part that isn't there is in place. The stream goes last.
for index = 4, 1, -1 do
  if redis.call('EXISTS', KEYS[index]) == 1 then redis.call('RENAME', KEYS[index], KEYS[index + 4]) end
end
return 1
`;

/**
 * Moves the audit trail. A stream takes entries only behind its last one, so each shard's new trail is made beside the
 * old ones, from all of them by time, and put in place when all are whole. A run that is killed before that is begun
 * anew, and one that is killed later goes on. Of two runs at once, the first whose copies are whole counts.
 * @throws ConfigError when another run has finished meanwhile
 */
export async function moveTrail(deps: MoveDeps, records: ShardRecordStore): Promise<void> {
  const { redis, target, awaitCopies } = deps;
  let name = await records.findTrailCopies();
  if (name === undefined) {
    const own = randomToken();
    await copyTrail(deps, own);
    await awaitCopies(target.shards.map((keys) => copyOf(keys, own)[0]));
    name = await records.noteTrailCopied(own);
    if (name === undefined) throw new ConfigError('Another run has finished resharding.');
    // With the copies in place and without the note, another run would begin anew.
    await awaitCopies([GLOBAL_KEYS.shards]);
  }
  const putInPlace = defineScript(redis, PUT_IN_PLACE_LUA);
  for (const keys of target.shards) await putInPlace([...copyOf(keys, name), ...partsOf(keys)], []);
  for (const tag of SHARD_TAGS.slice(target.shards.length)) await redis.unlink(...partsOf(createShardKeys(tag)));
}

/** The keys of a trail, the stream first. */
function partsOf({ audit, auditOwners, auditIds, auditFollowers }: ShardKeys): [string, ...string[]] {
  return [audit, auditOwners, auditIds, auditFollowers];
}

/** The same of a copy. Those that nobody puts in place are deleted with what is rebuilt. */
function copyOf(keys: ShardKeys, name: string): [string, ...string[]] {
  const of = (part: string) => keys.auditCopy(`${name}:${part}`);
  return [of('entries'), of('owners'), of('ids'), of('followers')];
}

/** Makes the new trail of every shard. */
async function copyTrail({ redis, target }: MoveDeps, name: string): Promise<void> {
  const append = defineScript(redis, COPY_ENTRIES_LUA);
  const homes = new Map<ShardKeys, Home>();
  for (const keys of target.shards) homes.set(keys, { waiting: [], places: new Map(), behind: new Set() });
  const flush = async (keys: ShardKeys, home: Home) => {
    const rows = home.waiting.splice(0);
    const args = rows.flatMap(({ id, text, entry }) => [id, ownerOf(entry), text]);
    await append(copyOf(keys, name).slice(0, 3), args);
  };
  for await (const row of walkTrails(redis)) {
    const keys = trailOf(target, row.entry.workspaceId);
    const home = homes.get(keys);
    if (!home) throw new Error('every workspace has its shard');
    home.waiting.push(row);
    followOn(home, row);
    if (home.waiting.length === COPIED_AT_ONCE) await flush(keys, home);
  }
  for (const [keys, home] of homes) {
    await flush(keys, home);
    const [, , , followers = ''] = copyOf(keys, name);
    const places = FOLLOWERS.map((follower) => [follower, home.places.get(follower) ?? ''] as const);
    await redis.hset(followers, ...places.flat());
  }
}

type Row = {
  readonly id: string;
  readonly text: string;
  readonly entry: AuditEntry;
  /** How far the followers of the trail that it comes from are. */
  readonly followers: Readonly<Record<string, string>>;
};

type Home = {
  readonly waiting: Row[];
  /** How far each follower is in the new trail. */
  readonly places: Map<string, string>;
  /** Followers that lack an entry of it. They get the later ones, too, even those that they had. */
  readonly behind: Set<string>;
};

function followOn({ places, behind }: Home, { id, followers }: Row): void {
  for (const name of FOLLOWERS) {
    if ((followers[name] ?? '') < id) behind.add(name);
    else if (!behind.has(name)) places.set(name, id);
  }
}

/** The entries of all trails, the oldest first. */
async function* walkTrails(redis: RedisClient): AsyncGenerator<Row> {
  const trails = SHARD_TAGS.map(createShardKeys).map((keys) => walkTrail(redis, keys));
  const heads = await Promise.all(trails.map(async (trail) => ({ trail, head: await trail.next() })));
  for (let last = ''; ;) {
    const next = heads
      .filter(({ head }) => head.done !== true)
      .reduce<(typeof heads)[number] | undefined>(
        (first, each) => (first && idOf(first.head) <= idOf(each.head) ? first : each),
        undefined,
      );
    if (!next || next.head.done === true) return;
    const row = next.head.value;
    if (row.id !== last) yield row;
    last = row.id;
    next.head = await next.trail.next();
  }
}

function idOf(head: IteratorResult<Row, undefined>): string {
  return head.value?.id ?? '';
}

async function* walkTrail(redis: RedisClient, keys: ShardKeys): AsyncGenerator<Row, undefined> {
  const followers = await redis.hgetall(keys.auditFollowers);
  for (let from = '-', size = PAGE; size === PAGE;) {
    const rows = await redis.xrange(keys.audit, from, '+', 'COUNT', PAGE);
    for (const row of rows) {
      const entry = readAuditRow(row);
      yield { id: entry.id, text: row[1][1] ?? '', entry, followers };
      from = `(${entry.id}`;
    }
    size = rows.length;
  }
  return undefined;
}
