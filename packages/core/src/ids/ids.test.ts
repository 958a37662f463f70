import {
  callbackIdOf,
  deliveryIdOf,
  isCallbackId,
  newReceiverId,
  newTaskId,
  newTestTransitionId,
  sortableId,
  taskIdOfCallback,
  toBase32,
  transitionIdOf,
} from './ids.ts';

test.each([
  ['', ''],
  ['f', 'my'],
  ['fo', 'mzxq'],
  ['foo', 'mzxw6'],
  ['foob', 'mzxw6yq'],
  ['fooba', 'mzxw6ytb'],
  ['foobar', 'mzxw6ytboi'],
])('base32 of %p is %p, as in RFC 4648 section 10', (text, encoded) => {
  expect(toBase32(Buffer.from(text))).toBe(encoded);
});

// Expected values: openssl's SHA-256 of `7:task_019:task.done8:terminal` and `36:<transition id>5:wh_01`, coreutils' base32.
test('a delivery id is these 160 bits for ever: changing the derivation would break every receiver’s deduplication', () => {
  const transition = transitionIdOf('task_01', 'task.done', 'terminal');
  expect(transition).toBe('trn_iecab7qbxlfpi22dzezy5wzobcgxkqa6');
  expect(deliveryIdOf(transition, 'wh_01')).toBe('dlv_ocnvqjdgjio24hzrt724ubchtktk7b2f');
});

test('two endpoints, two transitions, and two ways to cut the same text get different ids', () => {
  const ids = [
    deliveryIdOf('trn_a', 'wh_1'),
    deliveryIdOf('trn_a', 'wh_2'),
    deliveryIdOf('trn_b', 'wh_1'),
    deliveryIdOf('trn_aw', 'h_1'),
    deliveryIdOf('trn_', 'awh_1'),
  ];
  expect(new Set(ids).size).toBe(ids.length);
});

test('a delivery id is a legal BullMQ job id and never one of the queue’s own keys', () => {
  expect(deliveryIdOf('trn_a', 'wh_1')).toMatch(/^dlv_[a-z2-7]{32}$/);
});

test('text order of Task and receiver ids is the order of their creation', () => {
  const times = [0, 1, 31, 32, 1_700_000_000_000, 1_700_000_000_001, 281_474_976_710_655];
  const ids = times.map((time) => sortableId(time));
  expect([...ids].sort()).toEqual(ids);
  expect(newTaskId(1)).toMatch(/^task_[0-9a-hjkmnp-tv-z]{26}$/);
  expect(newReceiverId(1)).toMatch(/^wh_[0-9a-hjkmnp-tv-z]{26}$/);
});

test('a callback’s id follows from its Task, and leads back to it; a test event’s never repeats', () => {
  expect(callbackIdOf('task_01abc')).toBe('cb_01abc');
  expect(taskIdOfCallback('cb_01abc')).toBe('task_01abc');
  expect(['cb_01abc', 'wh_01abc'].map(isCallbackId)).toEqual([true, false]);
  expect(newTestTransitionId()).not.toBe(newTestTransitionId());
});

const zeros = new Uint8Array(16);
const ones = new Uint8Array(16).fill(255);

test.each([
  [0, '0000000000'],
  [31, '000000000z'],
  [32, '0000000010'],
  [1_469_918_176_385, '01aryz6s41'], // the example of the ULID library
  [281_474_976_710_655, '7zzzzzzzzz'], // 48 bits
])('the time %d ms is written as %s', (now, text) => {
  expect(sortableId(now, zeros)).toBe(text + '0'.repeat(16));
});

test('the random part uses five bits of every byte', () => {
  const counting = Uint8Array.from({ length: 16 }, (_, index) => index * 2 + 1);
  expect(sortableId(0, ones)).toBe(`${'0'.repeat(10)}${'z'.repeat(16)}`);
  expect(sortableId(0, counting)).toBe(`${'0'.repeat(10)}13579bdfhknqsvxz`);
});

test('a thousand ids of one millisecond are all different', () => {
  const ids = Array.from({ length: 1_000 }, () => sortableId(1_700_000_000_000));
  expect(new Set(ids).size).toBe(1_000);
});
