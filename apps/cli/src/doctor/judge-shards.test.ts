import { judgeShards } from './judge-shards.ts';

const EMPTY = { sampled: 0, fitting: [1, 2, 3, 4], started: 0 };

test.each([
  ['an empty Redis', EMPTY, 4],
  ['data that lies where it is looked for', { sampled: 9, fitting: [4], started: 4 }, 4],
])('%s is fine', (_name, counts, shardCount) => {
  expect(judgeShards(counts, shardCount)).toEqual([]);
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
  expect(judgeShards(counts, shardCount)).toEqual([
    {
      level: 'error',
      code: 'shards_differ',
      sentence: expect.stringContaining(`set SHARDS=${named} everywhere`) as string,
    },
  ]);
});

test('data that fits no value is an error of its own', () => {
  expect(judgeShards({ sampled: 9, fitting: [], started: 4 }, 4)).toMatchObject([{ code: 'shards_mixed' }]);
});

test('where the data fits by chance, another value at the start of a process is a warning', () => {
  expect(judgeShards({ sampled: 1, fitting: [1, 2, 4], started: 1 }, 4)).toMatchObject([
    { level: 'warning', code: 'shards_changed' },
  ]);
});
