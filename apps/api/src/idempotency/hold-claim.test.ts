import { holdClaim } from './hold-claim.ts';

const LEASE_MS = 60_000;
const { jest } = import.meta;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function hold(answer: () => Promise<'renewed' | 'lost'>) {
  const seen = { renewals: 0, warnings: [] as string[] };
  const warn = (event: string) => seen.warnings.push(event);
  const claim = {
    seed: { at: 0, random: new Uint8Array(16) },
    renew: () => {
      seen.renewals++;
      return answer();
    },
    keepAnswer: () => Promise.resolve('kept' as const),
    giveBack: () => Promise.resolve('given_back' as const),
  };
  return { seen, release: holdClaim(claim, LEASE_MS, { debug: warn, info: warn, warn, error: warn }, 'req_1') };
}

test('a claim is renewed well within each lease until its request ends, and not after', async () => {
  const { seen, release } = hold(() => Promise.resolve('renewed'));
  await jest.advanceTimersByTimeAsync(LEASE_MS * 3);
  expect(seen).toEqual({ renewals: 9, warnings: [] });
  release();
  await jest.advanceTimersByTimeAsync(LEASE_MS * 3);
  expect(seen.renewals).toBe(9);
});

test.each([
  ['was taken over', () => Promise.resolve('lost' as const), 'idempotency.claim_lost'],
  ['cannot be renewed', () => Promise.reject(new Error('Redis is away')), 'idempotency.renewal_failed'],
])('a claim that %s is said in the log', async (_name, answer, event) => {
  const { seen, release } = hold(answer);
  await jest.advanceTimersByTimeAsync(LEASE_MS / 3);
  release();
  expect(seen.warnings).toEqual([event]);
});
