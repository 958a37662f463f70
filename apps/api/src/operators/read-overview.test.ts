import { ARRIVAL_BINS, SHARD_FIELDS, FIELDS } from '@herald/store/stats/counter-layout';
import { toServiceRates } from '@herald/store/stats/stats-reader';
import { toFindings, toMemory, toProcess } from './read-overview.ts';

const MINUTE_MS = 60_000;
const AT = 1_900_000_000_000 - (1_900_000_000_000 % MINUTE_MS) + 30_000;

function bucket(minutesAgo: number, fields: Readonly<Record<number, number>>) {
  const at = AT - 30_000 - minutesAgo * MINUTE_MS;
  return { at, counts: Array.from({ length: FIELDS }, (_, field) => fields[field] ?? 0) };
}

test('rates are of the last whole minute and what has passed of the present one', () => {
  const minutes = [
    bucket(2, { [SHARD_FIELDS.accepted]: 1_000 }),
    bucket(1, { [SHARD_FIELDS.accepted]: 120, [SHARD_FIELDS.failed]: 20, [ARRIVAL_BINS.fieldOf(100)]: 50 }),
    bucket(0, { [SHARD_FIELDS.accepted]: 60, [SHARD_FIELDS.deliveredLater]: 10 }),
  ];
  const rates = toServiceRates(minutes, AT);
  expect(rates).toMatchObject({ acceptedPerSecond: 2, deliveredPerSecond: 60 / 90, successRate: 0.75 });
  expect(rates.arrivalP99Ms).toBeGreaterThan(64);
  expect(rates.arrivalP99Ms).toBeLessThanOrEqual(128);
});

test('where nothing happened there is no success rate and no time to arrival', () => {
  expect(toServiceRates([bucket(1, {}), bucket(0, {})], AT)).toEqual({ acceptedPerSecond: 0, deliveredPerSecond: 0 });
});

test.each([
  ['growing', 100, { bytesPerSecond: 100, fullInSeconds: 60 }],
  ['shrinking', -100, { bytesPerSecond: -100 }],
  ['not known yet', undefined, {}],
])('memory that is %s', (_name, bytesPerSecond, more) => {
  const memory = { usedBytes: 4_000, limitBytes: 10_000 };
  expect(toMemory(memory, bytesPerSecond)).toEqual({ usedBytes: 4_000, maxBytes: 10_000, ...more });
});

test('memory without a limit is never full, and memory that Redis does not tell is left out', () => {
  expect(toMemory({ usedBytes: 4_000, limitBytes: 0 }, 5)).toEqual({ usedBytes: 4_000, bytesPerSecond: 5 });
  expect(toMemory(undefined, undefined)).toEqual({});
});

test('a process is named by its role and id', () => {
  expect(toProcess({ name: 'worker:2:abc', layout: 2, sign: 0 })).toMatchObject({ role: 'worker', id: 'abc' });
});

test('what is wrong says once what to do: as its sentence ends, or else as its code has it', () => {
  const warnings = [
    { level: 'warning', code: 'aof_off', sentence: 'no append-only file; set appendonly yes; then restart' },
    { level: 'warning', code: 'aof_off', sentence: 'no append-only file' },
    { level: 'warning', code: 'no_worker', sentence: 'judged elsewhere' },
  ] as const;
  const text = 'no append-only file';
  expect(toFindings({ problems: [], warnings: [...warnings] })).toEqual([
    { level: 'warning', code: 'aof_off', text, whatToDo: 'set appendonly yes; then restart' },
    { level: 'warning', code: 'aof_off', text, whatToDo: 'Set `appendonly yes` and `appendfsync everysec`.' },
  ]);
});
