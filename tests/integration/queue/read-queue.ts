import { groupOfLane } from '@herald/queue';
import { CLASS_FACTOR } from '../../../packages/queue/src/job-class.ts';
import { RINGS } from '../../../packages/queue/src/queue-keys.ts';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { QueueKeys } from '../../../packages/queue/src/queue-keys.ts';

type Queue = { readonly redis: RedisClient; readonly keys: QueueKeys };

export type GroupSeen = {
  /** Ids of its waiting jobs, and their scores. A lane has its own. */
  readonly waiting: ReadonlyMap<string, number>;
  /** Markers of its lanes, and their scores. */
  readonly markers: ReadonlyMap<string, number>;
  /** Handles of its jobs in work, those of its lanes included. */
  readonly leases: readonly string[];
  /** Where it stands: rings and `later`. */
  readonly places: readonly string[];
  readonly fields: Readonly<Partial<Record<'p' | 'n' | 'open' | 'probe' | 'hold', string>>>;
};

/** All that Redis knows of a queue's groups. */
export async function readQueue({ redis, keys }: Queue): Promise<ReadonlyMap<string, GroupSeen>> {
  const leases = await redis.zrange(keys.leases, '0', '-1');
  const sets = new Map<string, readonly string[]>();
  for (const ring of RINGS) sets.set(String(ring), await redis.zrange(keys.ready(ring), '0', '-1'));
  sets.set('later', await redis.zrange(keys.later, '0', '-1'));
  const names = new Set([...sets.values()].flat());
  for (const handle of leases) names.add(groupOfLane(groupOf(handle)));
  for (const key of await redis.keys(`${keys.prefix}q:*`)) names.add(key.slice(keys.prefix.length + 2));
  for (const key of await redis.keys(`${keys.prefix}g:*`)) names.add(key.slice(keys.prefix.length + 2));
  const groups = new Map<string, GroupSeen>();
  for (const name of names) {
    const members = [...toScores(await redis.zrange(keys.waiting(name), '0', '-1', 'WITHSCORES'))];
    groups.set(name, {
      waiting: new Map(members.filter(([id]) => !id.startsWith('~'))),
      markers: new Map(members.filter(([id]) => id.startsWith('~'))),
      leases: leases.filter((handle) => groupOfLane(groupOf(handle)) === name),
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
  faults.push(...(await findLaneFaults(queue, groups)));
  for (const [name, { waiting, markers, leases, places, fields }] of groups) {
    for (const id of [...waiting.keys(), ...leases.map(idOf)]) {
      if (seen.has(id)) faults.push(`job ${id} is in two places`);
      seen.add(id);
    }
    if (isLane(name)) continue;
    if ((await redis.pttl(keys.group(name))) === -1) faults.push(`what is known of the group ${name} never expires`);
    const place = fields.p === 'l' || fields.p === 'f' ? 'later' : fields.p;
    const standing = new Map([...waiting, ...markers]);
    // A slow group that is ready is also looked at again, so that no version of a worker leaves it there.
    const expected = standing.size === 0 ? [] : fields.p === '3' ? ['3', 'later'] : [place];
    if (places.join() !== expected.join())
      faults.push(`group ${name} has ${standing.size} waiting, stands in [${places.join()}] and says ${fields.p}`);
    if (Number(fields.n ?? 0) !== leases.length)
      faults.push(`group ${name} counts ${fields.n ?? 'no'} jobs in work and has ${leases.length}`);
    if (fields.p === 'l') {
      const lookAt = Number(await redis.zscore(keys.later, name));
      const mayGoAt = Math.min(...[...standing.values()].map((score) => mayGoFrom(score, name, fields)));
      if (lookAt > mayGoAt) faults.push(`group ${name} is looked at ${lookAt - mayGoAt} ms after its first may go`);
    }
  }
  return faults;
}

const isLane = (name: string): boolean => name.includes('~');

/** A lane that has jobs of a class stands with a marker in its group, or waits for tokens in `later`. */
async function findLaneFaults({ redis, keys }: Queue, groups: ReadonlyMap<string, GroupSeen>) {
  const faults: string[] = [];
  const known = new Set<string>();
  for (const [lane, { waiting, places }] of groups) {
    if (!isLane(lane)) continue;
    const { markers = new Map<string, number>() } = groups.get(groupOfLane(lane)) ?? {};
    for (const jobClass of [0, 1, 2]) {
      const scores = [...waiting.values()].filter((score) => Math.floor(score / CLASS_FACTOR) === jobClass);
      const marker = `~${jobClass}~${lane.split('~').slice(1).join('~')}`;
      known.add(`${groupOfLane(lane)} ${marker}`);
      const first = scores.length === 0 ? undefined : Math.min(...scores);
      const stands = markers.get(marker);
      const waitsForToken = stands === undefined && jobClass > 0 && places.join() === 'later';
      if (stands !== first && !waitsForToken)
        faults.push(`${marker} stands at ${stands} and its first job at ${first}`);
    }
    if (places.length > 0 && waiting.size === 0) faults.push(`lane ${lane} stands in ${places.join()} without a job`);
    const isKnown = (await redis.zscore(keys.lanes, lane)) !== null;
    if (isKnown !== waiting.size > 0) faults.push(`lane ${lane} is ${isKnown ? '' : 'not '}among those that have jobs`);
  }
  for (const [name, { markers }] of groups) {
    for (const marker of markers.keys()) if (!known.has(`${name} ${marker}`)) faults.push(`${marker} marks no lane`);
  }
  return faults;
}

/** When a job may go as far as its own time, a hold and a breaker are concerned. */
function mayGoFrom(score: number, group: string, fields: GroupSeen['fields']): number {
  const jobClass = Math.floor(score / CLASS_FACTOR);
  const dueAt = score - jobClass * CLASS_FACTOR;
  if (jobClass === 0 || group.startsWith('!')) return dueAt;
  const probeAt = fields.open === '1' ? Number(fields.probe) : 0;
  return Math.max(dueAt, Number(fields.hold ?? 0), probeAt);
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
