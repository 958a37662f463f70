import { describeDrop, describeLeft } from './deliveries-command.ts';

test.each([
  ['count', 'cancel', { left: 0 }, /^5 deliveries would be canceled\. --yes does it\.$/],
  ['cancel', 'cancel', { left: 0 }, /^5 deliveries canceled, and that is all of them; a request/],
  ['cancel', 'cancel', { left: 3 }, /^5 deliveries canceled, but not all; a request/],
  ['count', 'purge', { left: 0 }, /^5 deliveries would be deleted, of which 2 are pending\. --yes does it\.$/],
  [
    'purge',
    'purge',
    { left: 0 },
    /^5 deliveries deleted, and that is all that there were when it began; 2 were pending\.$/,
  ],
] as const)('a %s, of a %s, with %o, says what is done', (done, mode, more, sentence) => {
  expect(describeDrop(done, mode, { deliveries: 5, pending: 2, ...more })).toMatch(sentence);
});

test.each([
  [1, '1 more delivery is pending'],
  [3, '3 more deliveries are pending'],
])('what is left of a cancelation is told with what to type next (%i)', (left, begin) => {
  const told = describeLeft(left, { workspace: 'ws_x', before: Date.UTC(2030, 0, 31) });
  expect(told).toMatch(new RegExp(`^${begin}: they come as fast as they are canceled\\. `));
  expect(told).toContain('"herald deliveries cancel --workspace ws_x --before 2030-01-31T00:00:00.000Z --yes"');
});
