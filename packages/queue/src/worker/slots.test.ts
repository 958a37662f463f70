import { setTimeout as pause } from 'node:timers/promises';
import type { Ring } from '../queue-keys.ts';
import { createBusyMeter, createSlots, mostInWork, type Slot } from './slots.ts';

function setUp(concurrency = 10) {
  let at = 0;
  const slots = createSlots({ concurrency, now: () => at });
  return {
    slots,
    passMs: (ms: number) => {
      at += ms;
    },
    start: (count: number, group: string, ring: Ring, tenant?: string): readonly Slot[] =>
      Array.from({ length: count }, () => slots.start(group, ring, tenant)),
    /** Its jobs have taken so long so far. */
    teach: (group: string, ms: number): void => {
      const slot = slots.start(group, 1);
      at += ms;
      slots.end(slot, 'answered');
    },
  };
}

test('quick groups have as many slots as configured, suspect ones half, slow ones ten times as many, express ones fifty', () => {
  expect(setUp().slots.room().rings).toEqual([50, 10, 5, 100]);
});

test('while this process is busy, suspects have four slots, and what they hold already counts', () => {
  let isBusy = true;
  const slots = createSlots({ concurrency: 100, now: () => 0, isBusy: () => isBusy });
  expect(slots.room().rings).toEqual([50, 100, 4, 1_000]);
  for (let count = 0; count < 12; count++) slots.start('a', 2);
  // For a tenant that has none.
  expect(slots.room().rings).toEqual([50, 100, 1, 1_000]);
  isBusy = false;
  expect(slots.room().rings).toEqual([50, 100, 38, 1_000]);
});

test('a busy worker meant for one job has room for a suspect one', () => {
  expect(createSlots({ concurrency: 1, now: () => 0, isBusy: () => true }).room().rings).toEqual([50, 1, 1, 10]);
});

test('a process is busy while its event loop has no pause, and no longer once it has', async () => {
  const isBusy = createBusyMeter();
  const startedAt = performance.now();
  while (performance.now() - startedAt < 100);
  expect(isBusy()).toBe(true);
  while (isBusy()) await pause(20);
});

test('jobs of one ring take no room of another', () => {
  const { slots, start } = setUp();
  start(3, '!e', 0);
  start(10, 'a', 1);
  start(5, 'b', 2);
  start(99, 'c', 3);
  expect(slots.room().rings).toEqual([47, 0, 1, 1]);
});

test('a worker meant for one job has room for a suspect one', () => {
  expect(setUp(1).slots.room().rings).toEqual([50, 1, 1, 10]);
});

test.each<Ring>([1, 2, 3])('a slot of ring %i is given back once, however often it ends', (ring) => {
  const { slots, start } = setUp();
  const before = slots.room().rings[ring];
  const [slot] = start(2, 'a', ring);
  if (slot) slots.end(slot, 'answered');
  if (slot) slots.end(slot, 'answered');
  expect(slots.room().rings[ring]).toBe(before - 1);
  expect(slots.inWork()).toBe(1);
});

test.each<{ ring: Ring; rooms: readonly number[]; then: readonly number[] }>([
  { ring: 1, rooms: [50, 6, 5, 100], then: [50, 10, 5, 96] },
  { ring: 2, rooms: [50, 10, 1, 100], then: [50, 10, 5, 96] },
])('a job of ring $ring that takes longer than a second holds a slow slot from then on', ({ ring, rooms, then }) => {
  const { slots, start, passMs, teach } = setUp();
  teach('a', 900);
  const jobs = start(4, 'a', ring);
  passMs(999);
  expect(slots.room().rings).toEqual(rooms);
  expect(slots.roomierInMs()).toBe(1);
  passMs(1);
  expect(slots.room().rings).toEqual(then);
  expect(slots.roomierInMs()).toBe(Infinity);
  for (const job of jobs) slots.end(job, 'answered');
  expect(slots.room().rings).toEqual([50, 10, 5, 100]);
});

test('a quick group that keeps a job waiting is suspect, and all its jobs leave the quick slots', () => {
  const { slots, start, passMs } = setUp();
  start(4, 'waits', 1);
  expect(slots.findSuspects()).toEqual([]);
  expect(slots.roomierInMs()).toBe(100);
  passMs(100);
  expect(slots.findSuspects()).toEqual(['waits']);
  expect(slots.room().rings).toEqual([50, 10, 5, 96]);
});

test('suspects that take long hold no more than their share of the slow slots, and then suspect ones', () => {
  const { slots, start, passMs } = setUp();
  start(23, 'unknown', 2);
  passMs(1_000);
  expect(slots.room().rings).toEqual([50, 10, 2, 80]);
});

test('however many jobs of quick groups take long, they hold no suspect slot', () => {
  const { slots, start, passMs } = setUp();
  for (let group = 0; group < 8; group++) {
    start(10, `quick${group}`, 1, `ws_${group}`);
    passMs(100);
  }
  expect(slots.room().rings).toEqual([50, 10, 5, 20]);
});

test('some slots are kept for tenants that have no suspect job, however many others have', () => {
  const { slots, passMs } = setUp(20);
  const start = (count: number, tenant: string) =>
    Array.from({ length: count }, (_, index) => slots.start(`${tenant}${index}`, 2, tenant));
  start(9, 'ws_1');
  expect([slots.room().rings[2], slots.room().withoutRoom[2]]).toEqual([1, []]);
  start(1, 'ws_1');
  expect([slots.room().rings[2], slots.room().withoutRoom[2]]).toEqual([2, ['ws_1']]);
  start(1, 'ws_2');
  expect([slots.room().rings[2], slots.room().withoutRoom[2]]).toEqual([1, ['ws_1', 'ws_2']]);
  // They hold slow slots now.
  passMs(1_000);
  expect([slots.room().rings[2], slots.room().withoutRoom[2]]).toEqual([10, []]);
  start(40, 'ws_1');
  expect(slots.room().rings[2]).toBe(0);
  passMs(1_000);
  // Forty hold slow slots, and eleven the suspect ones.
  expect([slots.room().rings[2], slots.room().withoutRoom[2]]).toEqual([1, ['ws_1', 'ws_2']]);
});

test('slow groups can use all of their slots, however many others take long', () => {
  const { slots, start, passMs } = setUp();
  start(100, 'slow', 3);
  start(10, 'a', 1);
  passMs(100);
  // For tenants that have few in work.
  expect(slots.room().rings).toEqual([50, 10, 5, 5]);
});

test('some slots are kept for tenants that have few slow jobs, however many others have', () => {
  const { slots, start } = setUp(20);
  const room = () => [slots.room().rings[3], slots.room().withoutRoom[3]];
  start(199, 'a', 3, 'ws_1');
  expect(room()).toEqual([1, []]);
  start(1, 'b', 3, 'ws_1');
  expect(room()).toEqual([11, ['ws_1']]);
  start(1, 'c', 3, 'ws_2');
  expect(room()).toEqual([11, ['ws_1']]);
  // Two are many with so few quick slots.
  const [job] = start(1, 'c', 3, 'ws_2');
  expect(room()).toEqual([11, ['ws_1', 'ws_2']]);
  if (job) slots.end(job, 'answered');
  expect(room()).toEqual([11, ['ws_1']]);
  for (let tenant = 3; tenant <= 20; tenant++) start(1, 'd', 3, `ws_${tenant}`);
  expect(room()).toEqual([1, ['ws_1']]);
});

/** Takes all the room for quick jobs that a tenant has, every 30 ms, for groups that hang until the deadline. */
function hangFor(ms: number, { slots, start, passMs }: ReturnType<typeof setUp>, tenants: readonly string[]) {
  const jobs: Slot[] = [];
  for (let at = 0; at < ms; at += 30) {
    for (const tenant of tenants) {
      const { rings, withoutRoom } = slots.room();
      if (withoutRoom[1]?.includes(tenant)) continue;
      for (let job = 0; job < Math.min(rings[1], 25); job++)
        jobs.push(...start(1, `${tenant}.${at}.${Math.floor(job / 4)}`, 1, tenant));
    }
    passMs(30);
  }
  return jobs;
}

test.each(['ws_1', ''])(
  'a tenant %j whose quick groups begin to hang again and again leaves room to others',
  (tenant) => {
    const set = setUp(100);
    const jobs = hangFor(14_000, set, [tenant]);
    expect(jobs.length).toBeLessThanOrEqual(300);
    expect(set.slots.room()).toEqual({
      rings: [50, 100, 50, 1_000 - jobs.length],
      withoutRoom: [[], [tenant], [], []],
      isCautious: true,
    });
    for (const job of jobs) set.slots.end(job, 'unanswered');
    expect(set.slots.room()).toEqual({ rings: [50, 100, 50, 1_000], withoutRoom: [[], [], [], []], isCautious: false });
    expect(set.slots.inWork()).toBe(0);
  },
);

test('as long as few jobs of quick groups take long, every tenant has room', () => {
  const { slots, start, passMs } = setUp();
  start(20, 'a', 1, 'ws_1');
  passMs(100);
  expect(slots.room().withoutRoom[1]).toEqual([]);
  start(1, 'b', 1, 'ws_2');
  passMs(100);
  expect(slots.room().withoutRoom[1]).toEqual(['ws_1', 'ws_2']);
});

test('a tenant that holds all that it can get of every ring leaves room to another, and all express slots', () => {
  const set = setUp(100);
  const { slots, start, passMs } = set;
  for (let second = 0; second < 10; second++) {
    hangFor(990, set, ['ws_1']);
    for (const ring of [2, 3] as const) {
      const { rings, withoutRoom } = slots.room();
      if (!withoutRoom[ring]?.includes('ws_1')) start(rings[ring], `${ring}.${second}`, ring, 'ws_1');
    }
    passMs(10);
  }
  const { rings, withoutRoom } = slots.room();
  expect(rings.slice(0, 2)).toEqual([50, 100]);
  expect(Math.min(...rings)).toBeGreaterThan(0);
  expect(withoutRoom).toEqual([[], ['ws_1'], ['ws_1'], ['ws_1']]);
  expect(slots.inWork()).toBeGreaterThan(1_000);
});

test('while a provider of hundreds of tenants hangs, all others have room', () => {
  const { slots, start, passMs } = setUp(100);
  let tenants = 0;
  while (tenants < 400) {
    for (let taken = 0; taken < 25 && slots.room().rings[1] > 0; tenants++) {
      const turn = Math.min(slots.room().rings[1], slots.room().isCautious ? 1 : 4);
      taken += start(turn, `of ${tenants}`, 1, `ws_${tenants}`).length;
    }
    passMs(30);
    expect(Math.min(...slots.room().rings)).toBeGreaterThan(0);
  }
  passMs(1_000);
  expect(slots.room()).toMatchObject({ rings: [50, 100, 50, expect.any(Number)], withoutRoom: [[], [], [], []] });
});

test('many tenants whose quick groups begin to hang take no express slot, and name few without room', () => {
  const set = setUp(100);
  const tenants = Array.from({ length: 200 }, (_, index) => `ws_${index}`);
  hangFor(600, set, tenants);
  expect(set.slots.inWork()).toBeLessThanOrEqual(mostInWork(100) - 50);
  expect(set.slots.room().rings[0]).toBe(50);
  expect(set.slots.room().withoutRoom.flat().length).toBeLessThanOrEqual(mostInWork(100) / 10);
});

test('whatever takes long, no more are in work than there are slots', () => {
  const { slots, passMs, start } = setUp();
  for (let turn = 0; turn < 100; turn++) {
    for (const [ring, room] of slots.room().rings.entries()) start(room, `g${turn}.${ring}`, ring as Ring);
    passMs(100);
  }
  expect(slots.inWork()).toBeLessThanOrEqual(mostInWork(10));
  // The last quick ones may take long as well.
  expect(slots.inWork()).toBeGreaterThan(mostInWork(10) - 10);
  expect(mostInWork(10)).toBe(50 + 10 + 5 + 1 + 100 + 10 + 20);
});

test('suspect is what takes eight times as long as usual', () => {
  const { slots, start, passMs, teach } = setUp();
  teach('a', 50);
  start(1, 'a', 1);
  passMs(399);
  expect(slots.findSuspects()).toEqual([]);
  passMs(1);
  expect(slots.findSuspects()).toEqual(['a']);
});

test('what ends without an answer says nothing of how long a group usually takes', () => {
  const { slots, start, passMs } = setUp();
  const [first] = start(1, 'a', 1);
  passMs(10_000);
  if (first) slots.end(first, 'unanswered');
  start(1, 'a', 1);
  passMs(100);
  expect(slots.findSuspects()).toEqual(['a']);
});

test.each<Ring>([2, 3])('a group of ring %i is not told of as suspect: it is where it belongs', (ring) => {
  const { slots, start, passMs } = setUp();
  start(1, 'a', ring);
  passMs(1_000);
  expect(slots.findSuspects()).toEqual([]);
});
