import { findFaults } from './read-queue.ts';
import { createQueueScripts } from './queue-scripts.ts';
import { startQueue } from './start-queue.ts';

const START = 1_800_000_000_000;
/** Turns that a tenant has left, when it has had none for long. */
const BURST = 16;

async function setUp() {
  let now = START;
  const queue = await startQueue(() => now);
  const scripts = createQueueScripts(queue, () => now);
  let added = 0;
  return {
    scripts,
    passMs: (ms: number) => {
      now += ms;
    },
    /** They have answered before. */
    makeSound: (...groups: string[]) =>
      Promise.all(groups.map((group) => queue.redis.hset(queue.keys.group(group), 'ok', '1'))),
    addMany: (group: string, count: number) =>
      queue.add(...Array.from({ length: count }, (_, index) => ({ group, id: `${group}${index}` }))),
    /** Adds jobs to each of so many groups of a tenant, `<tenant>0` and so on, which have answered before. */
    async addGroups(tenant: string, groups: number, jobs: number): Promise<void> {
      const names = Array.from({ length: groups }, (_, index) => `${tenant}${index}`);
      for (const group of names) await queue.redis.hset(queue.keys.group(group), 'ok', '1');
      const each = (group: string) =>
        Array.from({ length: jobs }, () => ({ group, tenant, id: `${group}.${added++}` }));
      await queue.add(...names.flatMap(each));
    },
    queue,
    /** The groups of the next jobs, one reserve each. */
    async takeGroups(turns: number, room: number): Promise<readonly string[]> {
      const groups: string[] = [];
      for (let turn = 0; turn < turns; turn++) {
        const jobs = await scripts.reserve({ rooms: [room, room, room], groupLimit: 100_000 });
        groups.push(jobs.map(({ group }) => group).join(''));
      }
      return groups;
    },
    [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
  };
}

test('groups are served in turn, whatever stands in them', async () => {
  await using set = await setUp();
  await set.addMany('a', 1_000);
  await set.addMany('b', 3);
  await set.addMany('c', 2);
  expect((await set.takeGroups(6, 1)).join('')).toBe('abcabc');
});

test('in one turn a group gives at most four jobs', async () => {
  await using set = await setUp();
  await set.addMany('a', 100);
  await set.addMany('b', 100);
  expect(await set.takeGroups(2, 10)).toEqual(['aaaabbbbaa', 'bbbbaaaabb']);
});

test('a group that is served more often than once a millisecond is not passed over for that afterwards', async () => {
  await using set = await setUp();
  await set.makeSound('a', 'b');
  await set.addMany('a', 1_000);
  await set.takeGroups(500, 1);
  set.passMs(10);
  await set.addMany('b', 100);
  const served = (await set.takeGroups(20, 1)).join('');
  const ofFirst = served.replaceAll('b', '').length;
  expect(Math.abs(ofFirst - 10)).toBeLessThanOrEqual(1);
});

test('groups that become ready one after the other are served in this order', async () => {
  await using set = await setUp();
  for (const group of ['c', 'a', 'b']) {
    await set.addMany(group, 1);
    set.passMs(1);
  }
  expect((await set.takeGroups(3, 1)).join('')).toBe('cab');
});

test('a group that has not answered yet has ten jobs in work at most, whatever the limit', async () => {
  await using set = await setUp();
  await set.makeSound('b');
  await set.addMany('a', 100);
  await set.addMany('b', 100);
  const served = (await set.takeGroups(50, 1)).join('');
  expect([served.replaceAll('b', '').length, served.replaceAll('a', '').length]).toEqual([10, 50]);
});

test('express groups have a ring of their own, with room of its own', async () => {
  await using set = await setUp();
  await set.addMany('a', 10);
  await set.addMany('!e', 10);
  expect((await set.scripts.reserve({ rooms: [2, 0, 0] })).map(({ group }) => group)).toEqual(['!e', '!e']);
  expect((await set.scripts.reserve({ rooms: [0, 0, 2] })).map(({ group }) => group)).toEqual(['a', 'a']);
});

test('many groups whose time comes at once are all served, a hundred a reserve', async () => {
  await using set = await setUp();
  for (let index = 0; index < 250; index++) await set.addMany(`g${String(index).padStart(3, '0')}`, 1);
  const served = await set.takeGroups(3, 250);
  expect(new Set(served.join('').match(/g\d{3}/g)).size).toBe(250);
});

describe('a tenant', () => {
  const tenantsOf = (groups: readonly string[]) => groups.map((group) => group.replaceAll(/\d/g, '')).join('');

  test('with many groups has one turn where one with one group has one', async () => {
    await using set = await setUp();
    await set.addGroups('a', 300, 2);
    set.passMs(1);
    await set.addGroups('b', 1, 20);
    set.passMs(1);
    await set.addGroups('c', 2, 20);
    // Its first ones come to a ring of which nothing is known, and have turns left.
    expect(tenantsOf(await set.takeGroups(1 + BURST, 1))).toBe('a'.repeat(1 + BURST));
    expect(tenantsOf(await set.takeGroups(12, 1))).toBe('abccabcabcab');
  });

  test('that has had nothing for long has sixteen turns before one that has all', async () => {
    await using set = await setUp();
    await set.addGroups('a', 2, 1_000);
    await set.takeGroups(400, 1);
    const transition = async () => {
      await set.addGroups('b', 10, 1);
      return tenantsOf(await set.takeGroups(11, 1));
    };
    expect(await transition()).toBe('bbbbbbbbbba');
    expect(await transition()).toBe('bbbbbbbabab');
    await set.takeGroups(100, 1);
    expect(await transition()).toBe('bbbbbbbbbba');
  });

  test('with many groups has all turns while nobody else waits, and they take turns among themselves', async () => {
    await using set = await setUp();
    await set.addGroups('a', 3, 2);
    expect((await set.takeGroups(6, 1)).join(' ')).toBe('a0 a1 a2 a0 a1 a2');
  });

  test('gets as many jobs as another, whether its groups have many jobs each or one', async () => {
    await using set = await setUp();
    await set.addGroups('a', 2, 200);
    await set.addGroups('b', 100, 1);
    const taken = tenantsOf(await set.takeGroups(8, 10));
    expect(Math.abs(taken.replaceAll('b', '').length - 40)).toBeLessThanOrEqual(8);
  });

  test('that sends a little goes before hundreds that have much waiting', async () => {
    await using set = await setUp();
    const tenants = 200;
    for (let tenant = 0; tenant < tenants; tenant++) await set.addGroups(`a${'x'.repeat(tenant)}`, 1, 50);
    // Those that came with turns left have had one.
    await set.takeGroups(1 + (4 * tenants) / 25, 25);
    for (let transition = 0; transition < 3; transition++) {
      await set.takeGroups((10 * tenants) / 25, 25);
      await set.addGroups('b', 10, 1);
      expect(tenantsOf(await set.takeGroups(10, 1))).toBe('b'.repeat(10));
    }
  });

  test('that sends a little has its turns back also while one group has all others', async () => {
    await using set = await setUp();
    await set.addGroups('a', 1, 2_000);
    for (let transition = 0; transition < 4; transition++) {
      await set.takeGroups(100, 1);
      await set.addGroups('b', 10, 1);
      expect(tenantsOf(await set.takeGroups(11, 1)).replaceAll('a', '')).toBe('b'.repeat(10));
    }
  });

  test('that had all turns for long is not made to wait for that when another comes', async () => {
    await using set = await setUp();
    await set.addGroups('a', 2, 500);
    await set.takeGroups(400, 1);
    await set.addGroups('b', 1, 30);
    expect(tenantsOf(await set.takeGroups(20, 1)).replaceAll('b', '')).toHaveLength(10);
  });

  test('is given back the turns that its groups don’t take', async () => {
    await using set = await setUp();
    await set.addGroups('a', 200, 1);
    await set.addGroups('b', 2, 50);
    for (let group = 1; group < 200; group++) await set.queue.remove(`a${group}`, `a${group}.${group}`);
    await set.takeGroups(4 + BURST, 1);
    await set.addGroups('a', 1, 3);
    expect(tenantsOf(await set.takeGroups(6, 1)).replaceAll('b', '')).toHaveLength(3);
    expect(await findFaults(set.queue)).toEqual([]);
  });

  test('that comes while many wait goes first, and those that come go in the order in which they come', async () => {
    await using set = await setUp();
    await set.addGroups('a', 50, 1);
    await set.takeGroups(1 + BURST, 1);
    for (const tenant of ['d', 'b', 'c']) await set.addGroups(tenant, 1, 1);
    expect(tenantsOf(await set.takeGroups(6, 1))).toBe('adbcaa');
  });

  test('is known from its first job on, and keeps its turns in each ring and in each place', async () => {
    await using set = await setUp();
    await set.addGroups('a', 1, 1);
    expect(await set.queue.redis.hget(set.queue.keys.group('a0'), 'ten')).toBe('a');
    await set.addMany('a0', 1);
    expect(await set.queue.redis.hget(set.queue.keys.group('a0'), 'ten')).toBe('a');
  });
});

test('a ring gives few jobs that have waited for long, and those that came due meanwhile with them', async () => {
  await using set = await setUp();
  await set.addGroups('a', 10, 10);
  set.passMs(2_000);
  await set.takeGroups(30, 1);
  const reserve = async (room: number) => {
    const jobs = await set.scripts.reserve({ rooms: [0, room, 0, 0], staleRooms: [0, 3, 0, 0], groupLimit: 100 });
    return jobs.map(({ group }) => group.slice(0, 1)).join('');
  };
  expect(await reserve(25)).toBe('aaa');
  await set.addGroups('b', 10, 1);
  expect(await reserve(25)).toBe('bbbbbbbbbbaaa');
  expect(await reserve(2)).toBe('aa');
  await set.addGroups('c', 2, 2);
  expect(await reserve(3)).toBe('ccc');
  expect(await reserve(5)).toBe('aaac');
});

test('of a ring without waiting groups no turns are kept, and of one that is busy only those to come', async () => {
  await using set = await setUp();
  const { redis, keys } = set.queue;
  for (let tenant = 0; tenant < 30; tenant++) await set.addGroups(`t${'x'.repeat(tenant)}`, 1, 1);
  await set.addGroups('busy', 2, 40);
  expect(await redis.zcard(keys.turns(1))).toBeGreaterThan(30);
  await set.takeGroups(70, 1);
  expect(await redis.zcard(keys.turns(1))).toBeLessThanOrEqual(2);
  await set.takeGroups(40, 1);
  expect(await redis.exists(keys.ready(1))).toBe(0);
  expect(await redis.exists(keys.turns(1))).toBe(0);
});
