import { createKeyspace } from '@herald/store/keys/keys';
import { readKeyName } from '@herald/store/keys/key-name';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { dumpRedis } from '../../support/redis-dump.ts';

/** What a Redis holds, whatever shard each thing lies in. */
export interface Layout {
  /** Kinds of a shard's keys that there are. */
  readonly kinds: ReadonlySet<string>;
  /** Values and ends of life (epoch ms), by what keys are called within their shard; of indexes, all members with their scores. */
  readonly contents: ReadonlyMap<string, string>;
  /** Shards that have anything at all. */
  readonly shards: ReadonlySet<number>;
}

const INDEXES = new Set([
  'tasksIn',
  'replays',
  'failed',
  'failedTests',
  'notices',
  'settled',
  'purge',
  'portalWorkspaces',
  'pending',
  'held',
  'leaving',
]);
/** Where deliveries stand is made anew, and every shard has the same of the others. */
const APART = new Set([
  'waiting',
  'ready',
  'wake',
  'turns',
  'later',
  'leases',
  'settings',
  'keyVersions',
  'history',
  'mover',
  // What it holds is read as it is by others.
  'audit',
  'auditOwners',
  'auditIds',
  'auditFollowers',
  'auditCopy',
]);
/** What is no endpoint's stays with no shard. */
const OF_NO_ENDPOINT = /^(?:!.*|platform)?$/;

export async function readLayout(redis: RedisClient): Promise<Layout> {
  const kinds = new Set<string>();
  const shards = new Set<number>();
  const contents = new Map<string, string>();
  const members = new Map<string, string[]>();
  const dump = await dumpRedis(redis);
  const endsOf = new Map(
    await Promise.all([...dump.keys()].map(async (name) => [name, String(await redis.pexpiretime(name))] as const)),
  );
  for (const [name, value] of dump) {
    const key = readKeyName(name);
    if (!key) {
      if (name !== 'herald:shards') contents.set(name, value);
      continue;
    }
    kinds.add(key.kind);
    shards.add(key.shard);
    if (APART.has(key.kind) || (key.kind === 'group' && OF_NO_ENDPOINT.test(key.id))) continue;
    const rest = name.slice(name.indexOf(':') + 1);
    if (key.kind === 'endedLog' || key.kind === 'endedPart') {
      // It is made anew of the records there are, in no order, until the last of them may be gone.
      const ids = name.endsWith(':segments')
        ? []
        : (JSON.parse(value) as string[]).filter((_, index) => index % 2 === 0);
      const present = ids.filter((id) => dump.has(`${name.slice(0, name.indexOf(':') + 1)}${id}`));
      if (present.length > 0) members.set(key.id, [...(members.get(key.id) ?? []), ...present]);
      continue;
    }
    const ends = endsOf.get(name) ?? '';
    if (INDEXES.has(key.kind)) {
      const rows = JSON.parse(value) as string[];
      const pairs = rows.flatMap((id, index) => (index % 2 === 0 ? [`${id} ${rows[index + 1] ?? ''} ${ends}`] : []));
      members.set(rest, [...(members.get(rest) ?? []), ...pairs]);
    } else {
      if (contents.has(rest)) throw new Error(`${rest} lies in two shards`);
      contents.set(rest, key.kind === 'group' ? await readGroup(redis, name) : `${withoutClaim(key, value)} ${ends}`);
    }
  }
  for (const [rest, all] of members) contents.set(rest, all.sort().join('\n'));
  return { kinds, shards, contents };
}

/** A test event that nobody has sent is claimed on the way, so that nobody does. */
function withoutClaim({ kind }: { kind: string }, value: string): string {
  return kind === 'delivery' ? value.replace(/,"claim":"\d+"/, '') : value;
}

/** What is known of a group, but for its place, its tenant, which no record of a removed receiver tells, and until when. */
async function readGroup(redis: RedisClient, key: string): Promise<string> {
  const { p: _place, n: _inWork, ten: _tenant, ttl: _ttl, ...known } = await redis.hgetall(key);
  return JSON.stringify(Object.entries(known).sort());
}

/** Every kind of key that a shard can have. */
export function allKinds(): string[] {
  const { prefix: _prefix, queue, ...kinds } = createKeyspace(1).shards[0] ?? {};
  const { prefix: _queuePrefix, ...queueKinds } = queue ?? {};
  return Object.keys({ ...kinds, ...queueKinds }).sort();
}
