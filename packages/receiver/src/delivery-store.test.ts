import { createMemoryStore, type Claim, type DeliveryStore } from './delivery-store.ts';

let nowMs: number;
beforeEach(() => {
  nowMs = 1_000_000;
});
const now = () => nowMs;

async function claim(store: DeliveryStore, id: string): Promise<Extract<Claim, { kind: 'claimed' }>> {
  const claimed = await store.claim(id);
  if (claimed.kind !== 'claimed') throw new Error(`${id} is ${claimed.kind}`);
  return claimed;
}

async function process(store: DeliveryStore, id: string): Promise<void> {
  await (await claim(store, id)).complete();
}

const kindOf = async (store: DeliveryStore, id: string) => (await store.claim(id)).kind;

test('a claim that nobody ends, ends by itself, and then ends no later one', async () => {
  const store = createMemoryStore({ leaseMs: 1_000, now });
  const first = await claim(store, 'a');
  nowMs += 999;
  expect(await kindOf(store, 'a')).toBe('in_progress');
  nowMs += 1;
  await claim(store, 'a');
  await first.release();
  expect(await kindOf(store, 'a')).toBe('in_progress');
});

test('a claim that is renewed does not end, and one that has ended is not taken back from another', async () => {
  const store = createMemoryStore({ leaseMs: 900, now });
  const first = await claim(store, 'a');
  expect(first.renewal?.everyMs).toBe(300);
  nowMs += 899;
  await claim(store, 'b');
  await first.renewal?.renew();
  nowMs += 899;
  expect(await kindOf(store, 'a')).toBe('in_progress');
  nowMs += 1;
  await claim(store, 'a');
  await first.renewal?.renew();
  await first.release();
  expect([await kindOf(store, 'a'), await kindOf(store, 'b')]).toEqual(['in_progress', 'claimed']);
});

test('who completes late has processed it all the same', async () => {
  const store = createMemoryStore({ leaseMs: 1_000, now });
  const first = await claim(store, 'a');
  nowMs += 1_000;
  const second = await claim(store, 'a');
  await first.complete();
  await second.release();
  expect(await kindOf(store, 'a')).toBe('done');
});

test('what was processed is remembered for its time, counted anew from every repeat', async () => {
  const store = createMemoryStore({ ttlMs: 10_000, now });
  await process(store, 'a');
  nowMs += 9_999;
  expect(await kindOf(store, 'a')).toBe('done');
  nowMs += 9_999;
  expect(await kindOf(store, 'a')).toBe('done');
  nowMs += 10_000;
  expect(await kindOf(store, 'a')).toBe('claimed');
});

test('beyond its size it forgets what was processed or repeated longest ago', async () => {
  const store = createMemoryStore({ max: 2, now });
  await process(store, 'a');
  await process(store, 'b');
  await store.claim('a');
  await process(store, 'c');
  expect([await kindOf(store, 'a'), await kindOf(store, 'c'), await kindOf(store, 'b')]).toEqual([
    'done',
    'done',
    'claimed',
  ]);
});

test('by default it remembers for seven days', async () => {
  const store = createMemoryStore({ now });
  await process(store, 'a');
  nowMs += 7 * 86_400_000 - 1;
  expect(await kindOf(store, 'a')).toBe('done');
});

test.each([{ ttlMs: 0 }, { leaseMs: Number.NaN }, { max: -1 }, { ttlMs: 1.5 }])('%j is refused', (options) => {
  expect(() => createMemoryStore(options)).toThrow('must be a whole number above 0');
});
