import { startRefresher } from './start-refresher.ts';

const LEASE_MS = 60_000;
const { jest } = import.meta;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function start(answer: () => Promise<'renewed' | 'lost'>) {
  const seen = { renewals: 0, warnings: [] as string[] };
  const warn = (event: string) => seen.warnings.push(event);
  const record = {
    seed: { at: 0, random: new Uint8Array(16) },
    renew: () => {
      seen.renewals++;
      return answer();
    },
    keepAnswer: () => Promise.resolve('kept' as const),
    giveBack: () => Promise.resolve('given_back' as const),
  };
  return { seen, stop: startRefresher(record, LEASE_MS, { debug: warn, info: warn, warn, error: warn }, 'req_1') };
}

test('a record is renewed well within each lease until its request ends, and not after', async () => {
  const { seen, stop } = start(() => Promise.resolve('renewed'));
  await jest.advanceTimersByTimeAsync(LEASE_MS * 3);
  expect(seen).toEqual({ renewals: 9, warnings: [] });
  stop();
  await jest.advanceTimersByTimeAsync(LEASE_MS * 3);
  expect(seen.renewals).toBe(9);
});

test.each([
  ['was taken over', () => Promise.resolve('lost' as const), 'idempotency.record_lost'],
  ['cannot be renewed', () => Promise.reject(new Error('Redis is away')), 'idempotency.renewal_failed'],
])('a record that %s is said in the log', async (_name, answer, event) => {
  const { seen, stop } = start(answer);
  await jest.advanceTimersByTimeAsync(LEASE_MS / 3);
  stop();
  expect(seen.warnings).toEqual([event]);
});
