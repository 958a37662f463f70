import { createRetryDelay } from './listen.ts';

test('it waits half a second, then twice as long each time up to half a minute, and anew after a connection', () => {
  const delay = createRetryDelay(() => 0.5);
  const waits = Array.from({ length: 9 }, () => delay.next());
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  delay.reset();
  expect(delay.next()).toBe(500);
  expect([createRetryDelay(() => 0).next(), createRetryDelay(() => 1).next()]).toEqual([400, 600]);
});
