import { createShardKeys } from '@herald/store/keys/keys';
import { defineScript } from '@herald/store/redis/script';
import { readCounters, STATS_WINDOWS, type StatsWindow } from '@herald/store/stats/counter-layout';
import { COUNT_LUA } from '../../../packages/store/src/stats/count-lua.ts';
import { startStores, type Stores } from '../../support/start-stores.ts';

const WINDOWS = Object.keys(STATS_WINDOWS) as StatsWindow[];
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const LIMIT_BYTES = 60 * 1_024;
const START = Date.parse('2030-01-31T12:00:00Z');
const key = createShardKeys('h0dr').endpointStats('wh_1');

let stores: Stores;
let count: (entries: readonly (readonly [at: number, field: number, more: number])[]) => Promise<unknown>;
beforeEach(async () => {
  stores = await startStores();
  const script = defineScript(
    stores.redis,
    `${COUNT_LUA} for i = 1, #ARGV, 3 do count(KEYS[1], tonumber(ARGV[i]), { [tonumber(ARGV[i + 1])] = tonumber(ARGV[i + 2]) }) end`,
  );
  count = (entries) => script([key], entries.flat());
});
afterEach(() => stores[Symbol.asyncDispose]());

const read = async (window: StatsWindow, now: number) => readCounters(await stores.redis.getBuffer(key), window, now);
/** Times and numbers of the buckets in which something of a field was counted. */
const counted = async (window: StatsWindow, now: number, field: number) =>
  (await read(window, now)).flatMap(({ at, counts }) => ((counts[field] ?? 0) > 0 ? [[at, counts[field]]] : []));

test('what is never counted is zeros in every bucket of every window', async () => {
  for (const window of WINDOWS) {
    const { buckets, bucketMs } = STATS_WINDOWS[window];
    const all = await read(window, START + 1);
    expect(all).toHaveLength(buckets);
    expect(all.at(-1)?.at).toBe(Math.floor(START / bucketMs) * bucketMs);
    expect(new Set(all.flatMap(({ counts }) => counts))).toEqual(new Set([0]));
  }
});

test('what is counted at any time stands in the right bucket of every window, and leaves it when its time has passed', async () => {
  // Now and then, with pauses of up to some hours.
  let at = START;
  const entries: (readonly [number, number, number])[] = [];
  for (let index = 0; at < START + WEEK_MS * 1.5; index++) {
    at += ((index * 7_919) % 97) * (index % 5 === 0 ? 4 * MINUTE_MS : 11_000);
    entries.push([at, (index * 31) % 24, 1 + (index % 9)]);
  }
  for (let start = 0; start < entries.length; start += 500) {
    const part = entries.slice(start, start + 500);
    await count(part);
    const now = part.at(-1)?.[0] ?? 0;
    for (const window of WINDOWS) {
      const { bucketMs } = STATS_WINDOWS[window];
      for (const { at: begin, counts } of await read(window, now)) {
        const expected = Array.from({ length: 24 }, () => 0);
        for (const [time, field, more] of entries.slice(0, start + 500)) {
          if (time >= begin && time < begin + bucketMs) expected[field] = (expected[field] ?? 0) + more;
        }
        expect({ window, begin, counts }).toEqual({ window, begin, counts: expected });
      }
    }
  }
});

test('an endpoint that is busy for seven days takes at most 60 KB, and its counters leave a week after the last attempt', async () => {
  const minutes = Array.from({ length: WEEK_MS / MINUTE_MS + 60 }, (_, minute) => START + minute * MINUTE_MS);
  const entries = minutes.flatMap((at) => [0, 7, 12, 23].map((field) => [at, field, 99_999] as const));
  for (let start = 0; start < entries.length; start += 2_000) await count(entries.slice(start, start + 2_000));
  const bytes = await stores.redis.memory('USAGE', key);
  expect(bytes).toBeGreaterThan(20_000);
  expect(bytes).toBeLessThanOrEqual(LIMIT_BYTES);
  const ttl = await stores.redis.pttl(key);
  expect(ttl).toBeGreaterThan(WEEK_MS);
  expect(ttl).toBeLessThan(WEEK_MS + DAY_MS / 4);
  const now = minutes.at(-1) ?? 0;
  for (const window of WINDOWS) {
    const { buckets, bucketMs } = STATS_WINDOWS[window];
    const full = (bucketMs / MINUTE_MS) * 99_999;
    const inside = (await counted(window, now, 12)).slice(1, -1);
    expect(inside.map(([, much]) => much)).toEqual(Array.from({ length: buckets - 2 }, () => full));
  }
});

test('an endpoint that is rarely used takes little', async () => {
  await count([[START, 5, 1]]);
  expect(await stores.redis.memory('USAGE', key)).toBeLessThan(1_024);
  await count(Array.from({ length: 7 }, (_, day) => [START + day * DAY_MS, 5, 1] as const));
  expect(await stores.redis.memory('USAGE', key)).toBeLessThan(5 * 1_024);
});

test('a clock that is behind counts in the newest bucket and breaks nothing', async () => {
  await count([
    [START + 10 * MINUTE_MS, 1, 1],
    [START, 1, 2],
    [START + 11 * MINUTE_MS, 1, 4],
  ]);
  expect(await counted('1h', START + 11 * MINUTE_MS, 1)).toEqual([
    [START + 10 * MINUTE_MS, 3],
    [START + 11 * MINUTE_MS, 4],
  ]);
});
