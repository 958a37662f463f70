import { APPEND_ENTRY_LUA, ownerOf, readAuditRow, trailOf, type AuditEntry } from '@herald/store/audit/audit-trail';
import { createShardKeys, GLOBAL_KEYS, type ShardKeys } from '@herald/store/keyspace/keys';
import { SHARD_TAGS } from '@herald/store/keyspace/shards';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { defineScript } from '@herald/store/scripts/script';
import type { ShardRecordStore } from '@herald/store/shards/shard-record';
import type { MoveDeps } from './move-records.ts';

/** Entries in one step. */
const PAGE = 500;
const COPIED_AT_ONCE = 100;

const COPY_ENTRIES_LUA = /* lua */ `
-- Append entries to a copy of a trail.
-- KEYS[1] trail (stream)   KEYS[2] owners (zset)   KEYS[3] ids by owner (zset)
-- ARGV[1..] id, owner and JSON of each, the oldest first
-- Returns how many.
${APPEND_ENTRY_LUA}
for index = 1, #ARGV, 3 do
  appendEntry(KEYS[1], KEYS[2], KEYS[3], ARGV[index], ARGV[index + 1], ARGV[index + 2])
end
return #ARGV / 3
`;

const PUT_IN_PLACE_LUA = /* lua */ `
-- Put the copy of a trail in the place of the trail.
-- KEYS[1..4] the copy: trail (stream), owners (zset), ids (zset), followers (hash)   KEYS[5..8] the same in place
-- Returns 1, or 0 when that is done already.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if redis.call('XLEN', KEYS[1]) == 0 then redis.call('DEL', KEYS[1]) end
for index = 1, 4 do
  if redis.call('EXISTS', KEYS[index]) == 1 then redis.call('RENAME', KEYS[index], KEYS[index + 4])
  else redis.call('DEL', KEYS[index + 4]) end
end
return 1
`;

/**
 * Moves the audit trail. A stream takes entries only behind its last one, so each shard's new trail is made beside the
 * old ones, from all of them by time, and put in place when all are whole. A run that is killed before that is begun
 * anew, and one that is killed later goes on.
 */
export async function moveTrail(deps: MoveDeps, records: ShardRecordStore): Promise<void> {
  const { redis, target, awaitCopies } = deps;
  if (!(await records.isTrailCopied())) {
    await copyTrail(deps);
    await awaitCopies(target.shards.map((keys) => copyOf(keys)[0]));
    await records.noteTrailCopied();
    // With the copies in place and without the note, another run would begin anew.
    await awaitCopies([GLOBAL_KEYS.shards]);
  }
  const putInPlace = defineScript(redis, PUT_IN_PLACE_LUA);
  for (const keys of target.shards) await putInPlace([...copyOf(keys), ...partsOf(keys)], []);
  for (const tag of SHARD_TAGS.slice(target.shards.length)) await redis.unlink(...partsOf(createShardKeys(tag)));
}

/** The keys of a trail, the stream first. */
function partsOf({ audit, auditOwners, auditIds, auditFollowers }: ShardKeys): [string, ...string[]] {
  return [audit, auditOwners, auditIds, auditFollowers];
}

function copyOf(keys: ShardKeys): [string, ...string[]] {
  return partsOf(keys).map((key) => `${key}:copy`) as [string, ...string[]];
}

/** Makes the new trail of every shard: an empty one, too, since a copy that isn't there has been put in place. */
async function copyTrail({ redis, target }: MoveDeps): Promise<void> {
  const append = defineScript(redis, COPY_ENTRIES_LUA);
  const homes = new Map<ShardKeys, Home>();
  for (const keys of target.shards) {
    const [trail, ...others] = copyOf(keys);
    await redis.unlink(trail, ...others);
    await redis.xadd(trail, '0-1', 'entry', '');
    await redis.xdel(trail, '0-1');
    homes.set(keys, { waiting: [], places: new Map(), behind: new Set() });
  }
  const flush = async (keys: ShardKeys, home: Home) => {
    const rows = home.waiting.splice(0);
    const args = rows.flatMap(({ id, text, entry }) => [id, ownerOf(entry), text]);
    if (rows.length > 0) await append(copyOf(keys).slice(0, 3), args);
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
    const [, , , followers = ''] = copyOf(keys);
    if (home.places.size > 0) await redis.hset(followers, Object.fromEntries(home.places));
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
  for (const name of ['log', 'history']) {
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
