import { setImmediate } from 'node:timers/promises';
import { EXPRESS, QUICK, RINGS, SLOW, SUSPECT, type Ring } from '../queue-keys.ts';
import { createReservations, type Held } from './reservations.ts';
import type { ReserveReply, ReserveRequest } from './reserve.ts';
import { createSlots } from './slots.ts';

const NOTHING_LEFT = [false, false, false, false] as const;

type Answer = {
  readonly ids?: readonly string[];
  readonly left?: readonly boolean[];
  readonly lookAgainAt?: number;
  readonly ring?: Ring;
  readonly isPaused?: boolean;
  /** Since when the jobs may go, by the test's time, which begins at 1,000. */
  readonly dueAt?: number;
};

const PAUSED: Answer = { isPaused: true };

/** Reservations whose reserves are answered in turn; the last answer is given for ever. */
function setUp(...answers: readonly (Answer | Error)[]) {
  return setUpWith(4, ...answers);
}

function setUpWith(concurrency: number, ...answers: readonly (Answer | Error)[]) {
  const requests: ReserveRequest[] = [];
  const waits: { rings: readonly Ring[]; seconds: number; end: (isMarked: boolean) => void }[] = [];
  const given: Held[] = [];
  let at = 1_000;
  const reserve = async (request: ReserveRequest): Promise<ReserveReply> => {
    const answer = answers[Math.min(requests.length, answers.length - 1)] ?? {};
    requests.push(request);
    await setImmediate();
    if (answer instanceof Error) throw answer;
    const { ids = [], left = NOTHING_LEFT, lookAgainAt = 0, ring = 1, isPaused = false, dueAt = 500 } = answer;
    const jobs = ids.map((id) => ({
      id,
      handle: `1|g|n|${id}`,
      group: 'g',
      dueAt,
      ring,
      tenant: '',
      isProbe: false,
      loaded: '',
    }));
    return { kind: isPaused ? 'paused' : 'reserved', jobs, left, lookAgainAt };
  };
  let slotsAt = 0;
  let marks = 0;
  const slots = createSlots({ concurrency, now: () => slotsAt });
  const reservations = createReservations({
    reserve,
    slots,
    groupLimit: 5,
    leaseMs: 100,
    waitForRings: (rings, seconds) =>
      new Promise((resolve) => {
        waits.push({ rings, seconds, end: resolve });
      }),
    mark: async () => {
      marks++;
      await setImmediate();
      throw new Error('OOM');
    },
    giveBack: (jobs) => {
      given.push(...jobs);
      return Promise.resolve();
    },
    processId: 'p',
    now: () => at,
  });
  return {
    slots,
    reservations,
    requests,
    waits,
    given,
    marks: () => marks,
    passMs: (ms: number) => {
      at += ms;
    },
    /** Passes for what is in work alone. */
    passSlotMs: (ms: number) => {
      slotsAt += ms;
    },
    /** All that there is until there is nothing for once. */
    async takeAll(): Promise<readonly Held[]> {
      const taken: Held[] = [];
      for (let job = await reservations.next(); job; job = await reservations.next()) taken.push(job);
      return taken;
    },
  };
}

const idsOf = (jobs: readonly (Held | undefined)[]) => jobs.map((job) => job?.reserved.id);

test('what one reserve brings is handed over one by one, and then there is nothing for once', async () => {
  const { takeAll, requests } = setUp({ ids: ['a', 'b', 'c'] }, {});
  expect(idsOf(await takeAll())).toEqual(['a', 'b', 'c']);
  expect(requests).toHaveLength(1);
});

test('a reserve asks for no more than there is room for, in each ring', async () => {
  const { takeAll, requests } = setUp({ ids: ['a', 'b', 'c'] }, {});
  await takeAll();
  await takeAll();
  expect(requests.map(({ rooms }) => rooms)).toEqual([
    [25, 4, 2, 5],
    [25, 1, 2, 5],
  ]);
});

/** Jobs that have waited for a second, so many that they are most of the load of their ring. */
const STALE: Answer = { ids: Array.from({ length: 40 }, (_, index) => `s${index}`), dueAt: 0 };
const STALE_SUSPECTS: Answer = { ...STALE, ring: SUSPECT };
const FRESH: Answer = { ids: ['fresh'], dueAt: 1_000 };

test.each<[string, Answer, readonly number[]]>([
  ['quick', STALE, [25, 4, 3, 5]],
  ['suspect', STALE_SUSPECTS, [25, 25, 1, 5]],
])(
  'while jobs that waited for long are most of the %s ones, a reserve takes few of them beside others',
  async (_, stale, staleRooms) => {
    const { takeAll, requests } = setUpWith(100, stale, FRESH, {});
    for (let turn = 0; turn < 3; turn++) await takeAll();
    const before = [25, 25, 3, 5];
    expect(requests.map((request) => request.staleRooms)).toEqual([before, before, staleRooms]);
    expect(requests.map((request) => request.rooms)).toEqual([before, before, before]);
  },
);

const busyFor = (ms: number): void => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

const isLeft = RINGS.map((ring) => ring === SUSPECT);
const ONE_STALE: Answer = { ...STALE_SUSPECTS, ids: ['s'], left: isLeft };

test('meanwhile suspects rest after what a reserve brought of them, and the others are looked at', async () => {
  const { reservations, takeAll, requests, waits } = setUpWith(200, STALE_SUSPECTS, FRESH, ONE_STALE, { left: isLeft });
  for (let turn = 0; turn < 2; turn++) await takeAll();
  busyFor(10);
  const from = performance.now();
  await takeAll();
  // No mark ends a rest. The other rings are looked at meanwhile.
  const looks: number[] = [];
  while (looks.at(-1) !== 1) {
    expect(await reservations.wait(10)).toBe(true);
    await reservations.next();
    const rooms = requests.at(-1)?.rooms ?? [];
    looks.push(Math.min(1, rooms[SUSPECT] ?? 0));
    expect(rooms.every((room, ring) => room > 0 || ring === SUSPECT)).toBe(true);
  }
  // Timers count whole milliseconds.
  expect(performance.now() - from).toBeGreaterThan(8 - 2);
  expect(waits).toEqual([]);
});

test('suspects are waited for as soon as their rest is over, though nothing was left there', async () => {
  const { takeAll, reservations, waits } = setUpWith(
    200,
    STALE_SUSPECTS,
    FRESH,
    { ...ONE_STALE, left: NOTHING_LEFT },
    {},
  );
  for (let turn = 0; turn < 2; turn++) await takeAll();
  busyFor(10);
  await takeAll();
  for (let looks = 0; looks < 5 && waits.length === 0; looks++) {
    const ended: boolean[] = [];
    void reservations.wait(10).then((mayBe) => ended.push(mayBe));
    while (ended.length + waits.length === 0) await setImmediate();
    if (ended.length > 0) await reservations.next();
  }
  expect(waits[0]?.rings).toEqual(RINGS);
});

test('a rest that ends in the midst of a wait is noticed', async () => {
  const { reservations, takeAll, waits } = setUpWith(200, STALE_SUSPECTS, FRESH, ONE_STALE, { left: isLeft });
  for (let turn = 0; turn < 2; turn++) await takeAll();
  busyFor(10);
  await takeAll();
  const restsUntil = performance.now() + 8;
  const clock = jest.spyOn(performance, 'now');
  try {
    for (let looksBefore = 0; looksBefore < 20; looksBefore++) {
      let looks = 0;
      // The rest has begun a moment before.
      clock.mockImplementation(() => (looks++ < looksBefore ? restsUntil - 5 : restsUntil));
      const waiting = reservations.wait(10);
      expect(waits).toEqual([]);
      expect(await waiting).toBe(true);
    }
  } finally {
    clock.mockRestore();
  }
});

test('quick ones have no rest', async () => {
  const one: Answer = { ids: ['s'], dueAt: 0, left: RINGS.map((ring) => ring === QUICK) };
  const { takeAll, requests } = setUpWith(200, STALE, FRESH, one, {});
  for (let turn = 0; turn < 2; turn++) await takeAll();
  busyFor(10);
  for (let turn = 0; turn < 2; turn++) await takeAll();
  expect(requests.at(-1)?.rooms).toEqual([25, 25, 3, 5]);
});

test.each<[string, readonly Answer[], number]>([
  ['they are alone', [STALE, STALE], 0],
  ['the last that came due did so a second ago', [STALE, { ids: ['fresh'], dueAt: 1_000 }], 1_001],
  [
    'they are few',
    [
      { ids: ['s'], dueAt: 0 },
      { ids: ['fresh'], dueAt: 1_000 },
    ],
    0,
  ],
])('jobs that waited for long go as fast as they can while %s', async (_, answers, afterMs) => {
  const { takeAll, requests, passMs } = setUpWith(200, ...answers, {});
  for (let turn = 0; turn < 2; turn++) await takeAll();
  passMs(afterMs);
  await takeAll();
  expect(requests.at(-1)?.staleRooms).toEqual([25, 25, 3, 5]);
});

test('every reserve has a name of its own', async () => {
  const { takeAll, requests } = setUp({});
  await takeAll();
  await takeAll();
  expect(new Set(requests.map(({ nonce }) => nonce)).size).toBe(2);
});

test('groups that are left and have room are not waited for', async () => {
  const { takeAll, reservations, waits } = setUp({ ids: ['a'], left: [false, true, false, false] });
  await takeAll();
  expect(await reservations.wait(1)).toBe(true);
  expect(waits).toHaveLength(0);
});

test('a wait is for the rings that have room, and ends when a job takes so long that it leaves its slot to others', async () => {
  const { takeAll, reservations, waits } = setUp({ ids: ['a', 'b', 'c', 'd'] }, {});
  await takeAll();
  const waiting = reservations.wait(1);
  expect(waits).toMatchObject([{ rings: [0, 2, 3], seconds: 0.1 }]);
  waits[0]?.end(true);
  await waiting;
});

test('while only slow groups have no room, a wait is as long as any: their slots become free when jobs end', async () => {
  // What is kept for others is taken as well.
  const slow = Array.from({ length: 50 }, (_, index) => `s${index}`);
  const { takeAll, reservations, waits } = setUp({ ids: slow, ring: 3, left: [false, false, false, true] });
  await takeAll();
  const waiting = reservations.wait(4);
  expect(waits).toMatchObject([{ rings: [0, 1, 2], seconds: 4 }]);
  waits[0]?.end(false);
  await waiting;
});

/** Runs with timers that a test moves on. */
async function withTimers(run: (passMs: (ms: number) => Promise<void>) => Promise<void>): Promise<void> {
  jest.useFakeTimers({ doNotFake: ['performance', 'setImmediate'] });
  try {
    await run((ms) => jest.advanceTimersByTimeAsync(ms));
  } finally {
    jest.useRealTimers();
  }
}

test.each([
  ['in a while', 1_010, 11],
  ['in a moment, with what comes due just behind it', 1_001, 4],
  ['since a while', 900, 4],
])('what comes due during a wait ends it then: %s', async (_, lookAgainAt, afterMs) => {
  const { takeAll, reservations, marks, waits } = setUp({ lookAgainAt }, {});
  await takeAll();
  await withTimers(async (passMs) => {
    const waiting = reservations.wait(10);
    await passMs(afterMs - 1);
    expect(marks()).toBe(0);
    await passMs(1);
    expect(marks()).toBe(1);
    waits[0]?.end(true);
    expect(await waiting).toBe(true);
    await passMs(1_000);
    expect(marks()).toBe(1);
  });
});

test('what a job’s end finds to be due sooner ends the wait then', async () => {
  const express: Answer = {
    ids: Array.from({ length: 50 }, (_, index) => `e${index}`),
    ring: EXPRESS,
    lookAgainAt: 9_000,
  };
  const { takeAll, reservations, slots, marks, waits } = setUpWith(
    4,
    express,
    { lookAgainAt: 9_000 },
    { lookAgainAt: 1_020 },
    {},
  );
  const [first] = await takeAll();
  await withTimers(async (passMs) => {
    await reservations.next();
    const waiting = reservations.wait(10);
    if (first) slots.end(first.slot, 'answered');
    await reservations.nextAfterEnd();
    await passMs(20);
    expect(marks()).toBe(0);
    await passMs(1);
    expect(marks()).toBe(1);
    waits[0]?.end(true);
    expect(await waiting).toBe(true);
  });
});

test.each([
  ['that ends before', 1_500],
  ['when something is due in a month', 1_000 + 30 * 86_400_000],
  ['when nothing is due', 0],
])('a wait %s leaves no mark behind', async (_, lookAgainAt) => {
  const { takeAll, reservations, marks, waits } = setUp({ lookAgainAt }, {});
  await takeAll();
  await withTimers(async (passMs) => {
    const waiting = reservations.wait(10);
    await passMs(400);
    waits[0]?.end(true);
    expect(await waiting).toBe(true);
    await passMs(120_000);
    expect(marks()).toBe(0);
  });
});

test('without room in any ring nothing is asked of Redis', async () => {
  const express = Array.from({ length: 50 }, (_, index) => `e${index}`);
  const { takeAll, reservations, waits } = setUp(
    { ids: express, ring: 0 },
    { ids: ['a', 'b', 'c', 'd'] },
    { ids: ['y', 'z'], ring: 2 },
    { ids: Array.from({ length: 40 }, (_, index) => `s${index}`), ring: 3 },
    {},
  );
  for (let turn = 0; turn < 4; turn++) await takeAll();
  expect(await reservations.wait(0.01)).toBe(false);
  expect(waits).toHaveLength(0);
});

test('a wait is followed by a reserve, also when a job that ended has fetched another meanwhile', async () => {
  const { takeAll, reservations, waits, requests } = setUp(
    {},
    { ids: ['a'], left: [false, false, false, false] },
    { ids: ['b'] },
    {},
  );
  await takeAll();
  const waiting = reservations.wait(1);
  await reservations.next();
  waits[0]?.end(true);
  await waiting;
  const before = requests.length;
  await reservations.next();
  expect(requests.length).toBe(before + 1);
});

test('jobs that end while another’s reserve is under way get jobs too, when some are left', async () => {
  const full = { ids: ['a', 'b', 'c', 'd'], left: [false, true, false, false] };
  const { takeAll, slots, reservations, waits } = setUp(
    full,
    { ids: ['e'], left: [false, true, false, false] },
    { ids: ['f'] },
  );
  const [first, second] = await takeAll();
  const waiting = reservations.wait(1);
  if (first) slots.end(first.slot, 'answered');
  const nextOfFirst = reservations.nextAfterEnd();
  if (second) slots.end(second.slot, 'answered');
  const nextOfSecond = reservations.nextAfterEnd();
  expect(idsOf(await Promise.all([nextOfFirst, nextOfSecond]))).toEqual(['e', 'f']);
  waits[0]?.end(false);
  await waiting;
});

test('a job that ended leaves it to the one who waits when all rings are waited for', async () => {
  const { takeAll, slots, reservations, waits, requests } = setUp({ ids: ['a'] }, {});
  const [job] = await takeAll();
  const waiting = reservations.wait(1);
  if (job) slots.end(job.slot, 'answered');
  expect(await reservations.nextAfterEnd()).toBeUndefined();
  expect(requests).toHaveLength(1);
  waits[0]?.end(false);
  await waiting;
});

test('a paused queue is not looked at for what was due before', async () => {
  const { takeAll, reservations } = setUp({ lookAgainAt: 1_001 }, PAUSED);
  await takeAll();
  expect(reservations.lookAgainAt()).toBe(1_001);
  await takeAll();
  expect(reservations.lookAgainAt()).toBe(0);
});

test('of a paused queue only the express ring is waited for, and at most a second', async () => {
  const { takeAll, reservations, waits } = setUp(PAUSED);
  await takeAll();
  const waiting = reservations.wait(30);
  expect(waits).toMatchObject([{ rings: [0], seconds: 1 }]);
  waits[0]?.end(false);
  await waiting;
});

test('express jobs of a paused queue are handed over', async () => {
  const { takeAll } = setUp({ ...PAUSED, ids: ['a'], ring: 0 }, PAUSED);
  expect(idsOf(await takeAll())).toEqual(['a']);
});

test('a stop gives back what was not started, and nothing is reserved afterwards', async () => {
  const { reservations, given, requests } = setUp({ ids: ['a', 'b', 'c'] });
  await reservations.next();
  await reservations.stop();
  expect(idsOf(given)).toEqual(['b', 'c']);
  expect(await reservations.next()).toBeUndefined();
  expect(await reservations.nextAfterEnd()).toBeUndefined();
  expect(requests).toHaveLength(1);
});

test('what a reserve brings that was under way at the stop is given back', async () => {
  const { reservations, given } = setUp({ ids: ['a', 'b'] });
  const fetched = reservations.next();
  await reservations.stop();
  expect(await fetched).toBeUndefined();
  expect(idsOf(given)).toEqual(['a', 'b']);
});

test('after a stop it can go on', async () => {
  const { reservations } = setUp({ ids: ['a'] });
  await reservations.stop();
  reservations.resume();
  expect(idsOf([await reservations.next()])).toEqual(['a']);
});

test.each([41, 100])(
  'a job whose lease is too old after %i ms in the buffer goes back, and its slot is free',
  async (ms) => {
    const { reservations, requests, given, passMs } = setUp({ ids: ['a', 'b', 'c', 'd'] }, {});
    await reservations.next();
    passMs(ms);
    expect(await reservations.next()).toBeUndefined();
    await reservations.next();
    expect(idsOf(given)).toEqual(['b', 'c', 'd']);
    expect(requests[1]?.rooms).toEqual([25, 3, 2, 5]);
  },
);

test('a job that was in the buffer for a part of its lease is started', async () => {
  const { reservations, given, passMs } = setUp({ ids: ['a', 'b'] }, {});
  await reservations.next();
  passMs(40);
  expect(idsOf([await reservations.next()])).toEqual(['b']);
  expect(given).toEqual([]);
});

test('a reserve without a reply is asked for again under its name, since it may have brought something', async () => {
  const { reservations, requests, passMs } = setUp(new Error('Command aborted'), {}, {});
  await expect(reservations.next()).rejects.toThrow('Command aborted');
  passMs(25);
  await reservations.next();
  await reservations.next();
  const [first, second, third] = requests.map(({ nonce, leaseEndsAt }) => [nonce, leaseEndsAt]);
  expect(second).toEqual(first);
  expect(third?.[0]).not.toBe(first?.[0]);
});

test('a name is not used again when its lease would be short', async () => {
  const { reservations, requests, passMs } = setUp(new Error('Command aborted'), {});
  await expect(reservations.next()).rejects.toThrow('Command aborted');
  passMs(26);
  await reservations.next();
  const [first, second] = requests;
  expect(second?.nonce).not.toBe(first?.nonce);
  expect(second?.leaseEndsAt).toBe((first?.leaseEndsAt ?? 0) + 26);
});

test('a reserve that Redis refused is not tried again at once', async () => {
  const { reservations, requests } = setUp(new Error('OOM'), { ids: ['a'] });
  await expect(reservations.next()).rejects.toThrow('OOM');
  const startedAt = performance.now();
  expect(await reservations.wait(1)).toBe(true);
  expect(idsOf([await reservations.next()])).toEqual(['a']);
  expect(requests).toHaveLength(2);
  expect(performance.now() - startedAt).toBeGreaterThan(400);
});

test.each<{ ring: Ring; jobs: number; rooms: readonly number[]; waitedFor: readonly Ring[] }>([
  { ring: SUSPECT, jobs: 2, rooms: [25, 4, 1, 5], waitedFor: [0, 1, 3] },
  { ring: SLOW, jobs: 40, rooms: [25, 4, 2, 5], waitedFor: [0, 1, 2] },
])(
  'while the room of ring $ring is kept for others, it looks now and then whose groups are ready',
  async ({ ring, jobs, rooms, waitedFor }) => {
    const { slots, reservations, requests, waits } = setUp({ left: RINGS.map((each) => each === ring) });
    for (let job = 0; job < jobs; job++) slots.start('slow', ring, 'ws_1');
    await reservations.next();
    const withoutRoom = RINGS.map((each) => (each === ring ? ['ws_1'] : []));
    expect(requests.at(-1)).toMatchObject({ rooms, withoutRoom });
    const wait = reservations.wait(10);
    await setImmediate();
    // A mark of the ring says nothing then.
    expect(waits.map(({ rings }) => rings)).toEqual([waitedFor]);
    expect(waits[0]?.seconds).toBeLessThanOrEqual(0.1);
    waits[0]?.end(false);
    expect(await wait).toBe(false);
    await reservations.next();
    expect(requests).toHaveLength(2);
  },
);

test('the quick ring is waited for while tenants have no room there: their groups leave it', async () => {
  const { slots, reservations, requests, waits, passSlotMs } = setUp({});
  for (let job = 0; job < 9; job++) slots.start('hangs', QUICK, 'ws_1');
  passSlotMs(100);
  await reservations.next();
  expect(requests.at(-1)).toMatchObject({
    rooms: [25, 4, 2, 5],
    withoutRoom: [[], ['ws_1'], [], []],
    isCautious: true,
  });
  const wait = reservations.wait(10);
  await setImmediate();
  expect(waits).toMatchObject([{ rings: [0, 1, 2, 3], seconds: 10 }]);
  waits[0]?.end(false);
  await wait;
});

test('a reserve follows when it goes on after a stop, since others may have left something meanwhile', async () => {
  const { reservations, takeAll, requests, waits } = setUp({}, { ids: ['a'] });
  await takeAll();
  await reservations.stop();
  reservations.resume();
  expect(await reservations.wait(1)).toBe(true);
  expect(idsOf(await takeAll())).toEqual(['a']);
  expect([requests.length, waits.length]).toEqual([2, 0]);
});

test.each(['before', 'after'] as const)(
  'a mark that was taken %s a stop is passed on by one reserve that takes nothing',
  async (when) => {
    const { reservations, takeAll, requests, waits } = setUp({});
    await takeAll();
    const waiting = reservations.wait(1);
    if (when === 'after') await reservations.stop();
    waits[0]?.end(true);
    await waiting;
    if (when === 'before') await reservations.stop();
    expect(await reservations.next()).toBeUndefined();
    expect(await reservations.next()).toBeUndefined();
    expect(requests.slice(1).map(({ rooms }) => rooms)).toEqual([[0, 0, 0, 0]]);
  },
);

test('a stopped wait that took no mark is followed by no reserve', async () => {
  const { reservations, takeAll, requests, waits } = setUp({});
  await takeAll();
  const waiting = reservations.wait(1);
  await reservations.stop();
  waits[0]?.end(false);
  expect(await waiting).toBe(false);
  expect(await reservations.next()).toBeUndefined();
  expect(requests).toHaveLength(1);
});
