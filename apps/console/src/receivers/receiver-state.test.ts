import type { Schemas } from '../api/client.ts';
import { readExamples } from './read-examples.ts';
import { describeState, inBrief, lastAttemptAt, lastTestOf, timeToSend } from './receiver-state.ts';
import { fromLocalInput, judgeReplay, toLocalInput } from './form-input.ts';

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
const inMinutes = (count: number) => new Date(NOW + count * 60_000).toISOString();
const unanswered = { ...health, state: 'paused', nextProbeAt: inMinutes(2) } as const;
const held = { ...health, state: 'paused', pausedUntil: inMinutes(5) } as const;
const disabledAt = new Date(NOW - 60_000).toISOString();

test.each([
  ['untried', { health }, 'off', 'No delivery yet'],
  ['healthy', { health: { ...health, lastSuccessAt: health.since } }, 'good', 'Healthy'],
  ['failing', { health: { ...health, state: 'failing' as const } }, 'bad', 'Failing for 3 h'],
  ['without an answer', { health: unanswered }, 'bad', 'Gives no answer; failing for 3 h'],
  ['asked to wait', { health: held }, 'wait', 'Asked to wait; goes on in 5 min'],
  [
    'gone',
    { health: { ...health, state: 'disabled' as const }, disabledAt, disabledReason: 'gone' as const },
    'off',
    'Disabled 1 min ago',
  ],
])('%s', (_what, receiver, tone, state) => {
  const described = describeState({ rateLimit: null, ...receiver }, NOW);
  expect(described).toMatchObject({ tone, state });
  expect(described.explanation).toMatch(SENTENCE);
});

const attemptAt = (minutesAgo: number, outcome: { status?: number; error?: 'connection_refused' }) => ({
  at: inMinutes(-minutesAgo),
  durationMs: 40,
  ...outcome,
});

test('what failed last leads, in a sentence, with what to do, since when and when it is probed next', () => {
  const lastFailure = attemptAt(1, { error: 'connection_refused' });
  const described = describeState({ health: { ...unanswered, lastFailure }, rateLimit: null }, NOW);
  expect(described.cause).toEqual({
    meaning: 'Nothing listens at the port of the URL.',
    action: 'Start the server, or check its port and its firewall.',
    code: 'connection_refused',
  });
  expect(described.explanation).toContain('The next such probe: in 2 min.');
  const refused = { lastFailure: attemptAt(1, { status: 503 }), lastSuccessAt: inMinutes(-9) };
  for (const state of ['failing', 'disabled'] as const) {
    const receiver = { health: { ...health, ...refused, state }, rateLimit: null, disabledReason: 'failing' as const };
    expect(describeState(receiver, NOW).cause).toMatchObject({
      meaning: 'Your endpoint says that it is not available now.',
      code: '503 Service Unavailable',
    });
  }
  expect(lastAttemptAt({ ...health, ...refused })).toBe(inMinutes(-1));
  expect(lastAttemptAt({ ...health, ...refused, lastSuccessAt: inMinutes(0) })).toBe(inMinutes(0));
  expect(lastAttemptAt(health)).toBeUndefined();
});

test('after a test it says so, and that no event has come', () => {
  const untried = { health, rateLimit: null };
  const tested = describeState(untried, NOW, attemptAt(1, { status: 200 }));
  expect(tested).toMatchObject({ tone: 'good', state: 'Tested 1 min ago: 200; no event yet' });
  expect(tested.explanation).toMatch(SENTENCE);
  const refused = describeState(untried, NOW, attemptAt(2, { status: 401 }));
  expect(refused).toMatchObject({ tone: 'bad', state: 'The test failed 2 min ago; no event yet' });
  expect(refused.cause?.code).toBe('401 Unauthorized');
  expect(refused.explanation).toMatch(SENTENCE);
  const delivered = { health: { ...health, lastSuccessAt: health.since }, rateLimit: null };
  expect(describeState(delivered, NOW, attemptAt(1, { status: 401 })).state).toBe('Healthy');
});

test('of the newest deliveries the last test counts, and no event', () => {
  const of = (event: 'task.done' | 'webhook.test', minutesAgo?: number) => ({
    event,
    lastAttempt: minutesAgo === undefined ? null : attemptAt(minutesAgo, { status: 200 }),
  });
  const found = lastTestOf([of('webhook.test'), of('task.done', 0), of('webhook.test', 3), of('webhook.test', 1)]);
  expect(found).toEqual(attemptAt(1, { status: 200 }));
  expect(lastTestOf([of('task.done', 0)])).toBeUndefined();
});

test.each([
  ['It answered 410 Gone. Enable it.', 'It answered 410 Gone.'],
  ['Disabled by the platform: moved to 10.0.0.1! Ask.', 'Disabled by the platform: moved to 10.0.0.1!'],
  ['No end', 'No end'],
])('in a list, %j is %j', (explanation, brief) => {
  expect(inBrief(explanation)).toBe(brief);
});

test.each([
  ['healthy', health, 'good', 'Healthy, at its rate limit'],
  ['failing', { ...health, state: 'failing' }, 'bad', 'Failing for 3 h'],
  ['held', held, 'wait', 'Asked to wait; goes on in 5 min'],
  ['without an answer', unanswered, 'bad', 'Gives no answer; failing for 3 h'],
] as const)('a receiver that is %s says that its rate makes deliveries wait', (_what, state, tone, words) => {
  const slowed = { health: { ...state, waitingForRate: 12 }, rateLimit: { perSecond: 5 } };
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

test('what has just happened is not ahead, where the clock of the reader is a little behind', () => {
  const soon = new Date(NOW + 1_900).toISOString();
  expect(
    describeState({ rateLimit: null, health: { ...health, state: 'disabled' }, disabledAt: soon }, NOW).state,
  ).toBe('Disabled now');
  expect(describeState({ rateLimit: null, health: { ...health, lastSuccessAt: soon } }, NOW).explanation).toContain(
    'arrived now',
  );
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

const UNTIL = Date.UTC(2030, 0, 1);

function statsOf(...sent: readonly number[]): Schemas['Stats'] {
  const buckets = sent.map((delivered) => ({ at: '', delivered, failedAttempts: 0 }));
  return { bucketSeconds: 60, until: new Date(UNTIL).toISOString(), buckets } as unknown as Schemas['Stats'];
}

test.each([
  {
    what: 'a present minute that has just begun',
    buckets: [9_999, 3_000, 0],
    now: UNTIL - 60_000,
    perSecond: 50,
    ms: 10_000,
  },
  { what: 'one that is half over', buckets: [9_999, 3_000, 1_500], now: UNTIL - 30_000, perSecond: 50, ms: 10_000 },
  { what: 'nothing that was sent', buckets: [9_999, 0, 0], now: UNTIL - 30_000, perSecond: 0, ms: undefined },
  { what: 'a clock that is ahead', buckets: [6_000, 6_000], now: UNTIL + 3_600_000, perSecond: 100, ms: 5_000 },
])('500 deliveries and $what: $perSecond a second, and $ms ms', ({ buckets, now, perSecond, ms }) => {
  expect(timeToSend(500, statsOf(...buckets), now)).toEqual({ perSecond, ms });
});
