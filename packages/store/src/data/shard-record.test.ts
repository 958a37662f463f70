import { judgeShards } from './shard-record.ts';

const EMPTY = { sampled: 0, fitting: [1, 2, 3, 4], started: 0 };

test.each([
  ['an empty Redis', EMPTY, 4],
  ['data that lies where it is looked for', { sampled: 9, fitting: [4], started: 4 }, 4],
])('%s is fine', (_name, counts, shardCount) => {
  expect(judgeShards({ record: {}, counts }, shardCount)).toEqual([]);
});

test.each([
  ['the only value that fits', { sampled: 9, fitting: [1], started: 1 }, 4, 1],
  ['of several the one that processes were started with', { sampled: 2, fitting: [2, 6, 8], started: 6 }, 4, 6],
  [
    'the first that fits when a process was started with the wrong one',
    { sampled: 2, fitting: [2, 6], started: 4 },
    4,
    2,
  ],
])('data that lies elsewhere is an error that names %s', (_name, counts, shardCount, named) => {
  expect(judgeShards({ record: {}, counts }, shardCount)).toEqual([
    {
      level: 'error',
      code: 'shards_differ',
      sentence: expect.stringContaining(`set SHARDS=${named} everywhere`) as string,
    },
  ]);
});

test('data that fits no value is an error of its own', () => {
  expect(judgeShards({ record: {}, counts: { sampled: 9, fitting: [], started: 4 } }, 4)).toMatchObject([
    { code: 'shards_mixed' },
  ]);
});

test('where the data fits by chance, another value at the start of a process is a warning', () => {
  expect(judgeShards({ record: {}, counts: { sampled: 1, fitting: [1, 2, 4], started: 1 } }, 4)).toMatchObject([
    { level: 'warning', code: 'shards_changed' },
  ]);
});

test('what is recorded decides, and the sentence names both numbers and what to do', () => {
  expect(judgeShards({ record: { count: 1 } }, 1)).toEqual([]);
  const [finding] = judgeShards({ record: { count: 1 } }, 4);
  expect(finding?.sentence).toBe(
    'SHARDS is 4, but the data in this Redis is laid out for 1; set SHARDS=1 everywhere, ' +
      'or stop every API and worker and reshard the data with "herald shards reshard --to 4".',
  );
});

test.each([1, 4])('resharding that is not complete is an error, whatever SHARDS is (%i)', (shardCount) => {
  expect(judgeShards({ record: { count: 1, movingTo: 4 } }, shardCount)).toMatchObject([
    { code: 'shards_moving', sentence: expect.stringContaining('from 1 to 4 shards') as string },
  ]);
});

test('data that lies elsewhere than it is recorded is mixed', () => {
  const counts = { sampled: 9, fitting: [1], started: 4 };
  expect(judgeShards({ record: { count: 4 }, counts }, 4)).toMatchObject([{ code: 'shards_mixed' }]);
});
