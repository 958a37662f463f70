import { CLASS_FACTOR, RINGS, type QueueKeys } from '../../../packages/queue/src/queue-keys.ts';
import type { RedisClient } from '@herald/store/redis/connect-redis';

type Queue = { readonly redis: RedisClient; readonly keys: QueueKeys };

export type GroupSeen = {
  /** Ids of its waiting jobs, and their scores. */
  readonly waiting: ReadonlyMap<string, number>;
  /** Handles of its jobs in work. */
  readonly leases: readonly string[];
  /** Where it stands: rings and `later`. */
  readonly places: readonly string[];
  readonly fields: Readonly<Partial<Record<'p' | 'n' | 'open' | 'probe' | 'hold' | 'tok', string>>>;
};

/** All that Redis knows of a queue's groups. */
export async function readQueue({ redis, keys }: Queue): Promise<ReadonlyMap<string, GroupSeen>> {
  const leases = await redis.zrange(keys.leases, '0', '-1');
  const sets = new Map<string, readonly string[]>();
  for (const ring of RINGS) sets.set(String(ring), await redis.zrange(keys.ready(ring), '0', '-1'));
  sets.set('later', await redis.zrange(keys.later, '0', '-1'));
  const names = new Set([...sets.values()].flat());
  for (const handle of leases) names.add(groupOf(handle));
  for (const key of await redis.keys(`${keys.prefix}q:*`)) names.add(key.slice(keys.prefix.length + 2));
  for (const key of await redis.keys(`${keys.prefix}g:*`)) names.add(key.slice(keys.prefix.length + 2));
  const groups = new Map<string, GroupSeen>();
  for (const name of names) {
    groups.set(name, {
      waiting: toScores(await redis.zrange(keys.waiting(name), '0', '-1', 'WITHSCORES')),
      leases: leases.filter((handle) => groupOf(handle) === name),
      places: [...sets].filter(([, members]) => members.includes(name)).map(([place]) => place),
      fields: await redis.hgetall(keys.group(name)),
    });
  }
  return groups;
}

/** What is wrong with a queue that nobody waits on, as sentences; nothing in a sound one. */
export async function findFaults(queue: Queue): Promise<readonly string[]> {
  const { redis, keys } = queue;
  const faults: string[] = [];
  for (const ring of RINGS) {
    if ((await redis.exists(keys.ready(ring))) > (await redis.exists(keys.wake(ring))))
      faults.push(`ring ${ring} wakes nobody`);
  }
  const groups = await readQueue(queue);
  const counted = Number((await redis.hget(keys.settings, 'n')) ?? 0);
  const total = [...groups.values()].reduce((sum, { waiting }) => sum + waiting.size, 0);
  if (counted !== total) faults.push(`${total} jobs wait and ${counted} are counted`);
  const seen = new Set<string>();
  for (const [name, { waiting, leases, places, fields }] of groups) {
    for (const id of [...waiting.keys(), ...leases.map(idOf)]) {
      if (seen.has(id)) faults.push(`job ${id} is in two places`);
      seen.add(id);
    }
    if ((await redis.pttl(keys.group(name))) === -1) faults.push(`what is known of the group ${name} never expires`);
    const place = ['l', 'f', 's'].includes(fields.p ?? '') ? 'later' : fields.p;
    const expected = waiting.size === 0 ? [] : [place];
    if (places.join() !== expected.join())
      faults.push(`group ${name} has ${waiting.size} waiting, stands in [${places.join()}] and says ${fields.p}`);
    if (Number(fields.n ?? 0) !== leases.length)
      faults.push(`group ${name} counts ${fields.n ?? 'no'} jobs in work and has ${leases.length}`);
    if (fields.p === 'l') {
      const lookAt = Number(await redis.zscore(keys.later, name));
      const mayGoAt = Math.min(...[...waiting.values()].map((score) => mayGoFrom(score, name, fields)));
      if (lookAt > mayGoAt) faults.push(`group ${name} is looked at ${lookAt - mayGoAt} ms after its first may go`);
    }
  }
  return faults;
}

/** When a job may go as far as its own time, a hold, the rate and a breaker are concerned. */
function mayGoFrom(score: number, group: string, fields: GroupSeen['fields']): number {
  const jobClass = Math.floor(score / CLASS_FACTOR);
  const dueAt = score - jobClass * CLASS_FACTOR;
  if (jobClass === 0 || group.startsWith('!')) return dueAt;
  const probeAt = fields.open === '1' ? Number(fields.probe) : 0;
  return Math.max(dueAt, Number(fields.hold ?? 0), Number(fields.tok ?? 0), probeAt);
}

function toScores(reply: readonly string[]): ReadonlyMap<string, number> {
  const scores = new Map<string, number>();
  for (let index = 0; index < reply.length; index += 2) scores.set(reply[index] ?? '', Number(reply[index + 1]));
  return scores;
}

function groupOf(handle: string): string {
  return handle.split('|')[1] ?? '';
}

export function idOf(handle: string): string {
  return handle.split('|').slice(3).join('|');
}
