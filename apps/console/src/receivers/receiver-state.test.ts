import { describeState } from './receiver-state.ts';
import { readExamples } from './read-examples.ts';
import { fromLocalInput, judgeReplay, toLocalInput } from './replay-range.ts';

/** Not only what ends like one. */
const SENTENCE = /^(?!.*(undefined|NaN|\[object))[A-Z].{15,}\.$/s;

const NOW = Date.UTC(2030, 0, 31, 12);
const health = {
  state: 'healthy',
  since: new Date(NOW - 3 * 3_600_000).toISOString(),
  consecutiveFailures: 0,
  backlog: 0,
  lastSuccessAt: null,
} as const;
const disabledAt = new Date(NOW - 60_000).toISOString();

test.each([
  ['untried', { health }, '', 'off', 'No delivery yet'],
  ['healthy', { health: { ...health, lastSuccessAt: health.since } }, '', 'good', 'Healthy'],
  ['failing', { health: { ...health, state: 'failing' as const } }, '503', 'bad', 'Failing for 3 h: 503'],
  ['paused', { health: { ...health, state: 'paused' as const } }, '', 'wait', 'Paused for 3 h'],
  [
    'gone',
    { health: { ...health, state: 'disabled' as const }, disabledAt, disabledReason: 'gone' as const },
    '',
    'off',
    'Disabled 1 min ago',
  ],
])('%s', (_what, receiver, last, tone, state) => {
  const described = describeState({ rateLimit: null, ...receiver }, NOW, last);
  expect(described).toMatchObject({ tone, state });
  expect(described.explanation).toMatch(SENTENCE);
});

test.each([
  ['healthy', 'good', 'Healthy, at its rate limit'],
  ['failing', 'bad', 'Failing for 3 h'],
  ['paused', 'wait', 'Paused for 3 h'],
] as const)('a receiver that is %s says that its rate makes deliveries wait', (state, tone, words) => {
  const slowed = { health: { ...health, state, waitingForRate: 12 }, rateLimit: { perSecond: 5 } };
  const described = describeState(slowed, NOW);
  expect(described).toMatchObject({ tone, state: words });
  expect(described.explanation).toContain('12 deliveries wait because of the rate limit of 5 per second');
});

test.each([
  ['by_request', 'Somebody disabled it'],
  ['locked', 'Disabled by the platform. Only the platform enables it again'],
  ['gone', '410'],
  ['failing', 'failed for too long'],
] as const)('a receiver that was disabled as %s says so', (disabledReason, words) => {
  const receiver = { health: { ...health, state: 'disabled' as const }, disabledAt, disabledReason };
  expect(describeState({ rateLimit: null, ...receiver }, NOW).explanation).toContain(words);
});

test.each([
  ['platform', 'The platform disabled it'],
  ['key_0a', 'Somebody with the API key key_0a disabled it'],
  ['plk_0a', 'Somebody with the link plk_0a disabled it'],
])('a receiver that %s disabled says who did', (disabledBy, words) => {
  const receiver = { health: { ...health, state: 'disabled' as const }, disabledAt, disabledBy };
  expect(describeState({ rateLimit: null, ...receiver, disabledReason: 'by_request' }, NOW).explanation).toContain(
    words,
  );
});

test.each([
  ['Its host rests.', 'sent to it: Its host rests. Only'],
  [undefined, 'sent to it. Only'],
])('a receiver that the platform has paused says so, and why: %s', (reason, words) => {
  const receiver = {
    health: { ...health, state: 'paused' as const, backlog: 3 },
    pausedAt: disabledAt,
    rateLimit: null,
  };
  const described = describeState({ ...receiver, ...(reason !== undefined && { pausedReason: reason }) }, NOW);
  expect(described.state).toContain('Paused by the platform');
  expect(described.explanation).toContain(words);
  expect(described.explanation).toContain('3 deliveries wait');
});

test.each([
  ['It floods us', 'Disabled by the platform: It floods us. Only'],
  ['It floods us!', 'Disabled by the platform: It floods us! Only'],
])('a locked receiver says why: %s', (lockedReason, words) => {
  const receiver = { health: { ...health, state: 'disabled' as const }, disabledAt, lockedReason };
  expect(describeState({ rateLimit: null, ...receiver, disabledReason: 'locked' }, NOW).explanation).toContain(words);
});

test('examples are found by the names of their files', () => {
  const page = 'Text\n\n<!-- example: a.py -->\n\n```python\nprint(1)\n\nprint(2)\n```\n\n```sh\nno example\n```\n';
  expect([...readExamples(page)]).toEqual([['a.py', 'print(1)\n\nprint(2)']]);
});

test('a time of the reader’s zone is the same when it comes back', () => {
  expect(fromLocalInput(toLocalInput(NOW))).toBe(new Date(NOW).toISOString());
  expect(fromLocalInput('')).toBeUndefined();
});

test.each([
  ['', '', ['failed'], 'Say since when.'],
  ['2030-01-02T00:00', '2030-01-01T00:00', ['failed'], 'later than the beginning'],
  ['2030-01-01T00:00', '', [], 'at least one status'],
])('a replay since "%s" until "%s" of %j: %s', (since, until, statuses, words) => {
  expect(judgeReplay(since, until, statuses)).toContain(words);
  expect(judgeReplay('2030-01-01T00:00', '', ['failed'])).toBeUndefined();
});
