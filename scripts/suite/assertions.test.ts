import { globSync, readFileSync } from 'node:fs';
import { findWeakAssertions } from './find-weak-assertions.ts';

const TESTS = ['{packages,apps}/*/src/**/*.test.{ts,tsx}', '{scripts,chaos,bench}/**/*.test.ts', 'tests/**/*.ts'];

/**
 * Files in which a test waits for a fixed time, how often, and why nothing can be waited for instead: it measures, or a
 * bound is what it is about.
 */
const PAUSES: Readonly<Record<string, readonly [times: number, why: string]>> = {
  'apps/api/src/http/create-http-server.test.ts': [1, 'a client reads slowly'],
  'apps/worker/src/maintenance.test.ts': [2, 'a timer that was left, or of no rest, would have fired in this time'],
  'chaos/run-plan.test.ts': [1, 'one step takes longer than the others'],
  'packages/queue/src/worker/slots.test.ts': [1, 'gives the event loop a rest'],
  'scripts/suite/run-file.test.ts': [4, 'tests that take their time'],
  'tests/e2e/documents/follow-guide.ts': [1, 'asks again and again'],
  'tests/e2e/fleet/limit.test.ts': [1, 'a receiver takes its time'],
  'tests/e2e/revocation.test.ts': [1, 'the documented bound'],
  'tests/e2e/shards/reshard-command.ts': [1, 'asks again and again'],
  'tests/integration/connect-redis.test.ts': [1, 'a client that connects again would have in this time'],
  'tests/integration/queue/limits.test.ts': [1, 'a job takes its time'],
  'tests/integration/queue/rest.test.ts': [1, 'counts commands over a time'],
  'tests/integration/reporter-hour.test.ts': [1, 'an API takes its time'],
  'tests/integration/shards/upgrade/upgrade.test.ts': [1, 'a process shows itself again and again'],
  'tests/integration/worker/start-delivery-queue.test.ts': [1, 'a wait that was under way ends in this time'],
  'tests/support/start-load.ts': [1, 'who is refused asks again later'],
};

/** It has them all as examples. */
const OWN = 'scripts/suite/assertions.test.ts';

/** Files that draw numbers without a seed in their text: each prints the seed that it draws. */
const DRAWN: readonly string[] = ['tests/e2e/fuzz/fuzz.test.ts', 'tests/e2e/tenancy/rights.test.ts'];

test('assertions can fail, absences are proved by facts, and what is drawn can be drawn again', () => {
  const files = TESTS.flatMap((pattern) => globSync(pattern))
    .filter((file) => file !== OWN)
    .sort();
  expect(files.length).toBeGreaterThan(400);
  const found = files.map((file) => ({ file, weak: findWeakAssertions(readFileSync(file, 'utf8')) }));
  const timesToLive = found.flatMap(({ file, weak }) => weak.timesToLive.map((text) => `${file}: ${text}`));
  expect(timesToLive).toEqual([]);
  const sentences = found.flatMap(({ file, weak }) => weak.sentences.map((text) => `${file}: ${text}`));
  expect(sentences).toEqual([]);
  const drawn = found.filter(({ file, weak }) => weak.unseeded.length > 0 && !DRAWN.includes(file));
  expect(drawn.map(({ file, weak }) => `${file}: ${weak.unseeded.join()}`)).toEqual([]);
  const pauses = found.filter(({ weak }) => weak.pauses.length > 0).map(({ file, weak }) => [file, weak.pauses.length]);
  expect(pauses).toEqual(Object.entries(PAUSES).map(([file, [times]]) => [file, times]));
});

test.each([
  ['timesToLive', 'expect(await redis.pttl(key)).toBeGreaterThan(0);'],
  ['timesToLive', 'expect(await stores.redis.ttl(`${KEY}:${NOW}-1`)).toBeGreaterThanOrEqual(1);'],
  ['timesToLive', 'const left = await redis.pttl(key);\n  expect(left).toBeGreaterThan(0);'],
  ['timesToLive', 'expect(await redis.pttl(key) > 0).toBe(true);'],
  ['sentences', 'expect(text).toMatch(/\\.$/);'],
  ['unseeded', 'const ids = shuffle(Math.random);'],
  ['unseeded', 'const at = randomInt(100);'],
  ['pauses', 'await pause(200);'],
  ['pauses', 'await setTimeout(200);'],
  ['pauses', 'await new Promise((resolve) => setTimeout(resolve, 200));'],
] as const)('%s: it sees %s', (kind, text) => {
  expect(findWeakAssertions(importing(text))[kind]).toHaveLength(1);
});

test.each([
  'expect(left).toBeGreaterThan(0);',
  // It may be gone.
  'expect(await redis.pttl(key)).not.toBe(-1);',
  'expect(await redis.pttl(key)).toBeGreaterThan(50_000);',
  'const { next } = createRandom(1, "queue");',
  'await pause(headers);',
  'await scripts.pause(true);',
  'const timer = setTimeout(() => stop(), 200);',
])('it lets %s pass', (text) => {
  const weak = findWeakAssertions(text);
  expect(Object.values(weak).flat()).toEqual([]);
});

function importing(text: string): string {
  const names = text.startsWith('await pause') ? 'setTimeout as pause' : 'setTimeout';
  return text.includes('Promise') ? text : `import { ${names} } from 'node:timers/promises';\n${text}`;
}
