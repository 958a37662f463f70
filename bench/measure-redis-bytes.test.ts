import { besideShared } from './measure-redis-bytes.ts';

test('what ten deliveries share is told from what each takes by itself', () => {
  const [own, shared] = [400, 600];
  expect(besideShared(own + shared, own + shared / 10, 10)).toBeCloseTo(own);
});
