import { existsSync } from 'node:fs';
import { GLOBAL_KEYS } from '@herald/store/keys/keys';
import { KEY_KINDS } from '@herald/store/keys/key-name';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { startEngine, type Engine } from '../engine/start-engine.ts';
import { expire, live } from './live.ts';
import { kindOf, KNOWN_LEAKS, LONGEST_TTL_MS, MAY_STAY, WRITTEN_ELSEWHERE, type Kept, type Kind } from './may-stay.ts';

const DAY_MS = 86_400_000;
const START = Date.now();
/** Past every retention. */
const LATER = START + 400 * DAY_MS;

const COUNTS: Readonly<Record<string, (redis: RedisClient, name: string) => Promise<number>>> = {
  string: () => Promise.resolve(1),
  hash: (redis, name) => redis.hlen(name),
  list: (redis, name) => redis.llen(name),
  zset: (redis, name) => redis.zcard(name),
  stream: (redis, name) => redis.xlen(name),
};

type StayingKey = { readonly name: string; readonly members: number };

/** The keys without a time to live. */
async function findStaying(redis: RedisClient): Promise<readonly StayingKey[]> {
  const names = await redis.keys('*');
  const ttls = await Promise.all(names.map((name) => redis.pttl(name)));
  return await Promise.all(
    names
      .filter((_, index) => ttls[index] === -1)
      .map(async (name) => {
        const count = COUNTS[await redis.type(name)];
        if (!count) throw new Error(`nobody has said how to count ${name}`);
        return { name, members: await count(redis, name) };
      }),
  );
}

/** What is wrong with the kinds that stay and may not, or not in such numbers. */
function findBeyondBounds(staying: readonly StayingKey[], kept: Kept): ReadonlyMap<string, string> {
  const beyond = new Map<string, string>();
  for (const [kind = 'no kind', keys] of Map.groupBy(staying, ({ name }) => kindOf(name))) {
    const bound = kind === 'no kind' ? undefined : MAY_STAY[kind];
    const { keys: mostKeys = () => 1, members: mostMembers = () => 1 } = bound ?? {};
    const large = keys.find(({ name, members }) => members > mostMembers(kept, name));
    if (!bound) beyond.set(kind, `${keys.length} without a time to live, such as ${keys[0]?.name ?? ''}`);
    else if (keys.length > mostKeys(kept)) beyond.set(kind, `${keys.length} keys, at most ${mostKeys(kept)}`);
    else if (large) beyond.set(kind, `${large.name} has ${large.members}, at most ${mostMembers(kept, large.name)}`);
  }
  return beyond;
}

async function count({ redis, keys }: Engine): Promise<Kept> {
  const names = await redis.keys('*');
  const sizes = await Promise.all(
    names.filter((name) => kindOf(name) === 'receivers').map((name) => redis.zcard(name)),
  );
  const lists = names.filter((name) => kindOf(name) === 'tasksIn');
  const countLiving = async (name: string): Promise<number> => {
    const found = await Promise.all((await redis.zrange(name, 0, '-1')).map((id) => redis.exists(keys.task(id))));
    return found.filter((isThere) => isThere === 1).length;
  };
  return {
    workspaces: names.filter((name) => kindOf(name) === 'subscriptionVersion').length,
    receivers: sizes.reduce((sum, size) => sum + size, 0),
    apiKeys: names.filter((name) => kindOf(name) === 'apiKey').length,
    tasksIn: new Map(await Promise.all(lists.map(async (name) => [name, await countLiving(name)] as const))),
  };
}

const seen = new Set<Kind>();

test.each([
  { storage: 'Redis alone', hasHistory: false },
  { storage: 'a history', hasHistory: true },
])(
  'with $storage, what nobody needs any more is gone, and what stays is bounded',
  async ({ hasHistory }) => {
    await using engine = await startEngine({ hasHistory });
    const { redis } = engine;
    const looked = new Set<string>();
    const look = async () => {
      for (const name of (await redis.keys('*')).filter((each) => !looked.has(each))) {
        looked.add(name);
        const kind = kindOf(name);
        if (kind) seen.add(kind);
      }
    };
    await live(engine, hasHistory, START, look);
    expect(await expire(redis, LONGEST_TTL_MS)).toEqual([]);
    const first = await findStaying(redis);
    // Once more, so that what a later use takes out is taken out, and what grows with each use shows.
    await live(engine, hasHistory, LATER, look);
    const kept = await count(engine);
    const beyond = new Map([...findBeyondBounds(first, kept), ...findBeyondBounds(await findStaying(redis), kept)]);
    expect([...beyond].filter(([kind]) => !KNOWN_LEAKS.includes(kind))).toEqual([]);
    // What is mended must leave the list.
    expect(KNOWN_LEAKS.filter((kind) => !beyond.has(kind))).toEqual([]);
  },
  120_000,
);

test('every kind of key was there at some time', () => {
  const all = [...Object.keys(KEY_KINDS), ...Object.keys(GLOBAL_KEYS)] as Kind[];
  const missing = all.filter((kind) => !seen.has(kind));
  expect(missing.sort()).toEqual(Object.keys(WRITTEN_ELSEWHERE).sort());
  for (const path of Object.values(WRITTEN_ELSEWHERE)) expect(existsSync(path)).toBe(true);
});
