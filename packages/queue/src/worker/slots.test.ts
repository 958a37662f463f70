import { createSlots, EXPRESS_SLOTS, type Slot } from './slots.ts';

function setUp(concurrency = 10) {
  let at = 0;
  const slots = createSlots({ concurrency, now: () => at });
  return {
    slots,
    passMs: (ms: number) => {
      at += ms;
    },
    start: (count: number, group: string, ring: 0 | 1 | 2): readonly Slot[] =>
      Array.from({ length: count }, () => slots.start(group, ring)),
  };
}

test('sound groups have room for as many jobs as the worker is meant for, suspect ones for half, express ones their own', () => {
  expect(setUp().slots.rooms()).toEqual([EXPRESS_SLOTS, 10, 5]);
});

test('jobs of one ring take no room of another', () => {
  const { slots, start } = setUp();
  start(3, '!e', 0);
  start(10, 'a', 1);
  start(5, 'b', 2);
  expect(slots.rooms()).toEqual([EXPRESS_SLOTS - 3, 0, 0]);
});

test('a worker meant for one job has room for a suspect one', () => {
  expect(setUp(1).slots.rooms()).toEqual([EXPRESS_SLOTS, 1, 1]);
});

test('a slot is given back once, however often it ends', () => {
  const { slots, start } = setUp();
  const [slot] = start(2, 'a', 1);
  if (slot) slots.end(slot, 'answered');
  if (slot) slots.end(slot, 'answered');
  expect(slots.rooms()).toEqual([EXPRESS_SLOTS, 9, 5]);
  expect(slots.inWork()).toBe(1);
});

test('a group that keeps a job waiting counts as suspect, and leaves its room to the sound ones', () => {
  const { slots, start, passMs } = setUp();
  start(4, 'slow', 1);
  expect(slots.findSlow()).toEqual([]);
  passMs(101);
  expect(slots.findSlow()).toEqual(['slow']);
  expect(slots.rooms()).toEqual([EXPRESS_SLOTS, 10, 1]);
});

test('however many groups are slow, all jobs in work are at most twice as many as the worker is meant for', () => {
  const { slots, start, passMs } = setUp();
  start(10, 'a', 1);
  passMs(101);
  start(8, 'b', 1);
  expect(slots.rooms()).toEqual([EXPRESS_SLOTS, 2, 0]);
  passMs(101);
  expect(slots.rooms()).toEqual([EXPRESS_SLOTS, 2, 0]);
});

test('slow is what takes eight times as long as usual', () => {
  const { slots, start, passMs } = setUp();
  const [first] = start(1, 'a', 1);
  passMs(50);
  if (first) slots.end(first, 'answered');
  start(1, 'a', 1);
  passMs(400);
  expect(slots.findSlow()).toEqual([]);
  passMs(1);
  expect(slots.findSlow()).toEqual(['a']);
});

test('what ends without an answer says nothing of how long a group usually takes', () => {
  const { slots, start, passMs } = setUp();
  const [first] = start(1, 'a', 1);
  passMs(10_000);
  if (first) slots.end(first, 'unanswered');
  start(1, 'a', 1);
  passMs(101);
  expect(slots.findSlow()).toEqual(['a']);
});

test('a group of the suspect ring is not told of as slow: it is where it belongs', () => {
  const { slots, start, passMs } = setUp();
  start(1, 'a', 2);
  passMs(1_000);
  expect(slots.findSlow()).toEqual([]);
});
