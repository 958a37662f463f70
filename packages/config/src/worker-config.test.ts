import { DEFAULT_SCHEDULE_MS } from '@herald/core';
import { randomBytes } from 'node:crypto';
import { readWorkerConfig } from './worker-config.ts';

const env = { SECRETS_KEY: randomBytes(32).toString('base64') };

test.each<{ given: Record<string, string>; usual: readonly number[]; callbacks: readonly number[] }>([
  { given: {}, usual: DEFAULT_SCHEDULE_MS, callbacks: DEFAULT_SCHEDULE_MS },
  { given: { RETRY_SCHEDULE: '1s,2s' }, usual: [1_000, 2_000], callbacks: [1_000, 2_000] },
  { given: { RETRY_SCHEDULE: '' }, usual: [], callbacks: [] },
  { given: { CALLBACK_RETRY_SCHEDULE: '1s' }, usual: DEFAULT_SCHEDULE_MS, callbacks: [1_000] },
  { given: { CALLBACK_RETRY_SCHEDULE: '' }, usual: DEFAULT_SCHEDULE_MS, callbacks: [] },
  { given: { RETRY_SCHEDULE: '', CALLBACK_RETRY_SCHEDULE: '1s' }, usual: [], callbacks: [1_000] },
])('of $given, receivers have the schedule $usual and callbacks $callbacks', ({ given, usual, callbacks }) => {
  const { retryScheduleMs, callbackRetryScheduleMs } = readWorkerConfig({ ...env, ...given });
  expect([retryScheduleMs, callbackRetryScheduleMs]).toEqual([usual, callbacks]);
});

test.each([
  ['soon', 'must be durations separated by commas, such as 5s,5m,2h'],
  [Array(41).fill('1s').join(), 'must be at most 40 durations'],
])('the schedule %s of callbacks is refused', (text, problem) => {
  expect(() => readWorkerConfig({ ...env, CALLBACK_RETRY_SCHEDULE: text })).toThrow(
    `CALLBACK_RETRY_SCHEDULE ${problem}`,
  );
});
