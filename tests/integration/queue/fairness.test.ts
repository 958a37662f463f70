import { createQueueScripts } from './queue-scripts.ts';
import { startQueue } from './start-queue.ts';

const START = 1_800_000_000_000;

async function setUp() {
  let now = START;
  const queue = await startQueue(() => now);
  const scripts = createQueueScripts(queue, () => now);
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
