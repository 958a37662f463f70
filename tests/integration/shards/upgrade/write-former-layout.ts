import { createKeyspace, GLOBAL_KEYS } from '@herald/store/keys/keys';
import { readKeyName } from '@herald/store/keys/key-name';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { listKeys } from '../../../support/start-topology.ts';
import { placesOf, type FilledWorkspace } from '../fill-workspace.ts';

const QUEUE_KINDS = new Set(['waiting', 'ready', 'turns', 'wake', 'later', 'leases', 'settings', 'group']);
const NEW_KINDS = new Set(['endedLog', 'endedPart']);
/** What stood before the ids in the names of records. */
const FORMER_LETTERS = new Map([
  ['delivery', 'd'],
  ['attempts', 'd'],
  ['transition', 'x'],
]);
/** Where the fields of a group that expired are kept, in ms. */
const GROUP_TTL_MS = 90_000_000;
const LEASE_MS = 20_000;

/**
 * Names the records, and lays the queue out, as in layout 2: the groups are origins, and a receiver with a rate has a lane in one. Nothing notes
 * which deliveries failed or were canceled.
 */
export async function writeFormerLayout(
  redis: RedisClient,
  shardCount: number,
  filled: readonly FilledWorkspace[],
): Promise<void> {
  for (const name of await listKeys(redis)) {
    const kind = readKeyName(name)?.kind ?? '';
    const former = FORMER_LETTERS.get(kind);
    if (QUEUE_KINDS.has(kind) || NEW_KINDS.has(kind)) await redis.del(name);
    else if (former !== undefined) await redis.rename(name, name.replace('}:', `}:${former}:`));
  }
  await redis.hset(GLOBAL_KEYS.shards, { count: shardCount, layout: 2 });
  for (const each of filled) await writeWorkspace(redis, shardCount, each);
}

async function writeWorkspace(redis: RedisClient, shardCount: number, filled: FilledWorkspace): Promise<void> {
  const { prefix, queue, endpoint, purge, task, workspaceTasks } = createKeyspace(shardCount).of(filled.workspaceId);
  const { good, slow, off, gone, inOrder, limited, inWork, now } = filled;
  const lane = `${limited.origin}~10~${limited.id}`;
  const formerOf = new Map([good, slow, off, gone, inOrder].map(({ id, origin }) => [id, origin]));
  formerOf.set(limited.id, lane);
  for (const [id, { group: name, score }] of placesOf(filled)) {
    const group = formerOf.get(name) ?? name;
    if (id === inWork) await redis.zadd(queue.leases, now + LEASE_MS, `${score}|${group}|nonce|${id}`);
    else await redis.zadd(queue.waiting(group), score, id);
    const [base = ''] = group.split('~');
    await redis.hset(queue.group(base), { p: '1', n: id === inWork ? 1 : 0, ten: filled.workspaceId });
    await redis.pexpire(queue.group(base), GROUP_TTL_MS);
    await redis.zadd(queue.ready(1), now, base);
    await redis.zadd(queue.turns(1), now, filled.workspaceId);
    await redis.hincrby(queue.settings, 'n', 1);
  }
  await redis.zadd(queue.waiting(limited.origin), 1e13 + now, `~1~10~${limited.id}`);
  await redis.zadd(queue.later, now, lane);
  await redis.zadd(`${prefix}lanes`, 0, lane);
  await redis.set(`${prefix}m:${limited.origin}~${limited.id}`, now + 1_000);
  await redis.hset(endpoint(limited.id), 'dst', lane);
  await redis.hset(endpoint(slow.id), 'dstWas', `${good.origin}|${lane}`);
  await redis.hset(queue.group(slow.origin), { ...filled.breaker, sus: now + GROUP_TTL_MS });
  // It counted no Task, and listed none.
  await redis.hdel(task(filled.taskId), 'b', 'leaves');
  await redis.del(workspaceTasks(filled.workspaceId));
  await redis.zrem(purge, gone.id);
  await redis.zadd(purge, now, `${gone.id}|${gone.origin}`);
}
