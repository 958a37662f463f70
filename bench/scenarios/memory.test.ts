import { besideShared, memoryByTenth } from './memory.ts';

test('what ten deliveries share is told from what each takes by itself', () => {
  const [own, shared] = [400, 600];
  expect(besideShared(own + shared, own + shared / 10, 10)).toBeCloseTo(own);
});

test('a tenth is told by the samples of its second half', () => {
  const samples = [
    ...[
      { delivered: 40, MiB: 900 },
      { delivered: 60, MiB: 100 },
      { delivered: 80, MiB: 110 },
      { delivered: 100, MiB: 130 },
    ],
    { delivered: 1_000, MiB: 200 },
  ];
  const tenths = memoryByTenth(samples, 1_000);
  expect(tenths).toHaveLength(10);
  expect(tenths[0]).toEqual({ delivered: 100, median: 110, least: 100, most: 130 });
  expect(tenths[9]).toEqual({ delivered: 1_000, median: 200, least: 200, most: 200 });
});

test('a tenth without a sample says nothing', () => {
  expect(memoryByTenth([], 100)[4]).toEqual({ delivered: 50, median: NaN, least: NaN, most: NaN });
});
