import { sizeFor } from './scale.ts';

test('a load needs as many processes as its CPU fills to seven tenths, and never a part of one', () => {
  const costs = { apiUs: 14, workerUs: 420, redisUs: 140 };
  expect(sizeFor(9_900, costs)).toEqual({ apis: 1, workers: 6, masters: 2 });
  expect(sizeFor(10_100, costs)).toEqual({ apis: 1, workers: 7, masters: 3 });
});
