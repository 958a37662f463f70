import { describeTest } from './receivers-command.ts';

const deliveryId = 'dlv_a';

test.each([
  {
    outcome: { delivered: true, receiverStatus: 204, deliveryId, durationMs: 12 },
    sentence: 'Delivered (dlv_a): it answered 204 after 12 ms.',
  },
  {
    outcome: { delivered: false, receiverStatus: 500, deliveryId, durationMs: 12, answer: 'out\nof \u001b[31morder\n' },
    sentence: 'Not delivered (dlv_a): it answered 500 after 12 ms, "out of  [31morder".',
  },
  {
    outcome: { delivered: true, receiverStatus: 200, deliveryId, durationMs: 12, bodyNote: 'extra_bytes' },
    sentence: 'Delivered (dlv_a): it answered 200 (extra_bytes) after 12 ms.',
  },
  {
    outcome: {
      delivered: false,
      receiverStatus: null,
      error: 'connection_refused',
      deliveryId,
      durationMs: 3,
    } as const,
    sentence: 'Not delivered (dlv_a): connection_refused after 3 ms.',
  },
  {
    outcome: { delivered: false, receiverStatus: null, error: 'receiver_removed', deliveryId } as const,
    sentence: 'Not delivered (dlv_a): receiver_removed.',
  },
  {
    outcome: { delivered: true, receiverStatus: 200, deliveryId, durationMs: 1, answer: 'x'.repeat(300) },
    sentence: `Delivered (dlv_a): it answered 200 after 1 ms, "${'x'.repeat(200)}…".`,
  },
])('$sentence', ({ outcome, sentence }) => {
  expect(describeTest(outcome)).toBe(sentence);
});
