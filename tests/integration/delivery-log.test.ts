import type { ListPlace } from '@herald/core';
import { createLogReader } from '@herald/store/lists/log-reader';
import { LOG_LUA, SEGMENT_ENTRIES } from '@herald/store/keys/segment-lua';
import { defineScript } from '@herald/store/redis/script';
import fc from 'fast-check';
import { appendToLog, logEntriesFrom } from '../support/append-to-log.ts';
import { expectTtl } from '../support/expect-ttl.ts';
import { sized } from '../support/sized.ts';
import { startStores, type Stores } from '../support/start-stores.ts';

const TTL_MS = 100_000;
const NOW = 1_760_000_000_000;
const KEY = '{log}:of';

const REMOVE = `${LOG_LUA} removeFromLog(KEYS[1], ARGV[1], ARGV[2])`;

let stores: Stores;
let log: Log;
beforeAll(async () => {
  stores = await startStores();
  log = createLog();
});
beforeEach(() => stores.redis.flushall());
afterAll(() => stores[Symbol.asyncDispose]());

type Log = ReturnType<typeof createLog>;

function createLog() {
  const { redis } = stores;
  const remove = defineScript(redis, REMOVE);
  const reader = createLogReader(redis);
  return {
    append: (entries: readonly ListPlace[]) => appendToLog(redis, KEY, TTL_MS, entries),
    /** As a process of version 0.2.0 does it, and what comes back from the history. */
    addAsBefore: (entries: readonly ListPlace[]) => redis.zadd(KEY, ...flat(entries)),
    remove: ({ at, id }: ListPlace) => remove([KEY], [at, id]),
    count: (since: number, until: number) => reader.count(KEY, { since, until }),
    newestFirst: (...args: [range: object, after?: ListPlace]) => reader.newestFirst([KEY], ...args),
    oldestFirst: (...args: [range: object, limit: number, last?: ListPlace]) => reader.oldestFirst(KEY, ...args),
    keys: async () => (await redis.keys(`${KEY}*`)).sort(),
  };
}

const flat = (entries: readonly ListPlace[]) => entries.flatMap(({ at, id }) => [at, id]);
const inOrder = (entries: readonly ListPlace[]) => [...entries].sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));

async function readAll(limit: number, range: object = {}): Promise<ListPlace[]> {
  const all: ListPlace[] = [];
  for (;;) {
    const page = await log.oldestFirst(range, limit, all.at(-1));
    all.push(...page);
    if (page.length < limit) return all;
  }
}

test('a full log becomes a segment, and all of it can be read and counted', async () => {
  const entries = logEntriesFrom(NOW, 3 * SEGMENT_ENTRIES + 5);
  for (const entry of entries) await log.append([entry]);
  const names = [1, 2, 3].map((count) => `${KEY}:${NOW + count * SEGMENT_ENTRIES - 1}-1`);
  expect(await log.keys()).toEqual([KEY, ...names, `${KEY}:segments`]);
  expect(await readAll(50)).toEqual(entries);
  expect(await log.newestFirst({})(1_000)).toEqual([...entries].reverse());
  expect(await log.count(NOW, NOW + 1_000)).toBe(entries.length);
  expect(await log.count(NOW + 10, NOW + 100)).toBe(90);
  for (let until = NOW + SEGMENT_ENTRIES - 1; until < NOW + SEGMENT_ENTRIES + 3; until++) {
    expect(await readAll(50, { until })).toEqual(entries.filter(({ at }) => at < until));
  }
});

test.each([1, -1])('segments stay small when many deliveries come at once, in one millisecond (%s)', async (way) => {
  const entries = Array.from({ length: 500 }, (_, index): ListPlace => ({ at: NOW, id: `dlv_${1_000 + way * index}` }));
  await log.append(entries);
  const sizes = await Promise.all(
    (await log.keys()).filter((key) => !key.endsWith(':segments')).map((key) => stores.redis.zcard(key)),
  );
  expect(Math.max(...sizes)).toBe(SEGMENT_ENTRIES);
  expect(await readAll(100)).toEqual(inOrder(entries));
  expect(await log.newestFirst({})(10)).toEqual(inOrder(entries).reverse().slice(0, 10));
  expect(await log.newestFirst({})(500)).toEqual(inOrder(entries).reverse());
  for (const entry of entries) await log.remove(entry);
  expect(await log.keys()).toEqual([]);
});

test('a log of version 0.2.0 goes on as one large segment, and forgets what is too old', async () => {
  const before = logEntriesFrom(NOW, 5_000, 30);
  await log.addAsBefore(before);
  expect(await readAll(500)).toEqual(before);
  const after = logEntriesFrom(NOW + 150_000, 2 * SEGMENT_ENTRIES + 1);
  const newerThan = (at: number) => [...before, ...after].filter((entry) => entry.at > at - TTL_MS);
  await log.append(after.slice(0, 1));
  expect(await readAll(500)).toEqual(newerThan(NOW + 150_000).slice(0, -2 * SEGMENT_ENTRIES));
  await log.append(after.slice(1));
  expect(await readAll(500)).toEqual(newerThan(NOW + 150_000 + 2 * SEGMENT_ENTRIES));
  expect(await log.keys()).toHaveLength(4);
});

test('what comes late goes where it belongs, and expires with the rest', async () => {
  const entries = logEntriesFrom(NOW, 2 * SEGMENT_ENTRIES);
  await log.append(entries);
  const late = [
    { at: NOW + 3, id: 'dlv_a' },
    { at: NOW + SEGMENT_ENTRIES + 3, id: 'dlv_b' },
  ];
  await log.addAsBefore(late);
  // The older segment has expired.
  await stores.redis.del(`${KEY}:${NOW + SEGMENT_ENTRIES - 1}-1`);
  const after = logEntriesFrom(NOW + 1_000, SEGMENT_ENTRIES);
  await log.append(after);
  expect(await stores.redis.zrange(`${KEY}:${NOW + SEGMENT_ENTRIES - 1}-1`, 0, '-1')).toEqual(['dlv_a']);
  const keys = await log.keys();
  expect(keys).toHaveLength(4);
  for (const key of keys) await expectTtl(stores.redis, key, TTL_MS);
  expect(await readAll(10)).toEqual(inOrder([...late, ...entries.slice(SEGMENT_ENTRIES), ...after]));
});

test('segments that have expired are forgotten, and reading goes on behind them', async () => {
  const { redis } = stores;
  const segments = 1_200;
  const names = Array.from({ length: segments }, (_, index) => `${NOW + index}-1`);
  await redis.zadd(`${KEY}:segments`, ...names.flatMap((name, index) => [NOW + index, name]));
  const late = logEntriesFrom(NOW + segments, SEGMENT_ENTRIES + 5);
  await log.append(late);
  expect(await log.count(NOW, NOW + 10_000)).toBe(late.length);
  expect(await readAll(50)).toEqual(late);
  expect(await redis.zcard(`${KEY}:segments`)).toBe(1);
  await redis.zadd(`${KEY}:segments`, ...names.flatMap((name, index) => [NOW + index, name]));
  expect(await log.newestFirst({}, { at: NOW + segments / 2, id: '' })(5)).toEqual([]);
  expect(await log.newestFirst({})(1_000)).toEqual([...late].reverse());
  expect(await redis.zcard(`${KEY}:segments`)).toBe(1);
});

test('of many late entries a script moves some, and all are read meanwhile', async () => {
  await log.append(logEntriesFrom(NOW, 2 * SEGMENT_ENTRIES));
  const late = logEntriesFrom(NOW - 1_000, 500);
  await log.addAsBefore(late);
  const after = logEntriesFrom(NOW + 5_000, 8);
  const all = inOrder([...late, ...logEntriesFrom(NOW, 2 * SEGMENT_ENTRIES)]);
  for (const [index, entry] of after.entries()) {
    await log.append([entry]);
    expect(await stores.redis.zcard(KEY)).toBe(Math.max(500 - 100 * (index + 1), 0) + index + 1);
    expect(await readAll(100)).toEqual([...all, ...after.slice(0, index + 1)]);
  }
});

test('what an entry goes into lives as long as the entry, and the index names nothing that is over', async () => {
  const { redis } = stores;
  await log.append(logEntriesFrom(NOW, SEGMENT_ENTRIES));
  const [segment = '', index = ''] = await log.keys();
  await redis.pexpire(segment, 5_000);
  await redis.pexpire(index, 5_000);
  // A clock went back.
  await log.append(logEntriesFrom(NOW - 1_000, SEGMENT_ENTRIES));
  expect(await log.keys()).toEqual([segment, index]);
  for (const key of [segment, index]) expect(await redis.pttl(key)).toBeGreaterThan(TTL_MS / 2);
  await log.append(logEntriesFrom(NOW + 2 * TTL_MS, SEGMENT_ENTRIES));
  expect(await redis.zrange(index, 0, '-1')).toEqual([`${NOW + 2 * TTL_MS + SEGMENT_ENTRIES - 1}-1`]);
});

type Step =
  | { readonly kind: 'append' | 'addAsBefore'; readonly times: readonly number[] }
  | { readonly kind: 'remove'; readonly which: number };

const time = fc.integer({ min: 0, max: 40 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      times: fc.array(time, { minLength: 1, maxLength: 90, size: 'max' }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('addAsBefore' as const),
      times: fc.array(time, { minLength: 1, maxLength: 20, size: 'max' }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove' as const), which: fc.nat() }) },
);

test('whatever is added and removed in whatever order, a log reads and counts like one sorted list', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 25, size: 'max' }),
      fc.integer({ min: 1, max: 70 }),
      fc.tuple(fc.integer({ min: -5, max: 80 }), fc.integer({ min: 0, max: 60 })),
      async (steps, limit, [since, length]) => {
        await stores.redis.flushall();
        const model = new Map<string, ListPlace>();
        let clock = NOW;
        for (const [index, each] of steps.entries()) {
          // Time goes on slowly, so that many entries come late.
          clock += 2;
          if (each.kind === 'remove') {
            const entry = [...model.values()][each.which % Math.max(model.size, 1)];
            if (!entry) continue;
            await log.remove(entry);
            model.delete(entry.id);
          } else {
            const entries = each.times.map((at, n): ListPlace => ({
              at: clock + at,
              id: `dlv_${100 + index}_${100 + n}`,
            }));
            await log[each.kind](each.kind === 'append' ? inOrder(entries) : entries);
            for (const entry of entries) model.set(entry.id, entry);
          }
        }
        const expected = inOrder([...model.values()]);
        expect(await readAll(limit)).toEqual(expected);
        const next = log.newestFirst({});
        const pages: ListPlace[] = [];
        for (let page = await next(limit); ; page = await next(limit)) {
          pages.push(...page);
          if (page.length < limit) break;
        }
        expect(pages).toEqual([...expected].reverse());
        // Each page by itself, as a customer asks for it.
        const alone: ListPlace[] = [];
        for (;;) {
          const page = await log.newestFirst({}, alone.at(-1))(limit);
          alone.push(...page);
          if (page.length < limit) break;
        }
        expect(alone).toEqual(pages);
        const range = { since: NOW + since, until: NOW + since + length };
        const within = expected.filter(({ at }) => at >= range.since && at < range.until);
        expect(await readAll(limit, range)).toEqual(within);
        expect(await log.newestFirst(range)(1_000)).toEqual([...within].reverse());
        expect(await log.count(range.since, range.until)).toBe(within.length);
        // From the middle to both ends.
        const half = Math.floor(expected.length / 2);
        for (const entry of [...expected.slice(half), ...expected.slice(0, half)]) await log.remove(entry);
        expect(await log.keys()).toEqual([]);
      },
    ),
    { numRuns: sized(20, 400) },
  );
});
