import { createLogger } from '@herald/infra';
import { startWatchedLine, type WatchedLineDeps } from './start-watched-line.ts';

const logger = createLogger({ level: 'error', process: 'test', readable: false });

/** A line whose worker never fetches anything, and a clock that jumps by a second at every look. */
function watch(facts: { due: number; fetches?: boolean }) {
  const seen = { started: 0, abandoned: 0, gaveUp: 0, hung: 0 };
  let at = 0;
  const deps: WatchedLineDeps = {
    start: () => {
      seen.started++;
      return {
        stop: () => Promise.resolve(),
        abandon: () => {
          seen.abandoned++;
          return Promise.resolve();
        },
        activity: () => ({ inWork: 0, lastFetchAt: facts.fetches ? at : 0 }),
      };
    },
    countDue: () => Promise.resolve(facts.due),
    giveUp: () => {
      seen.gaveUp++;
    },
    everyMs: 1,
    hungAfterMs: 30_000,
    logger: { ...logger, error: () => undefined },
    metrics: {
      lineHung: () => {
        seen.hung++;
      },
    },
    now: () => (at += 1_000),
  };
  return { seen, line: startWatchedLine(deps) };
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 5_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the condition was not met in time');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a line with work due that fetches nothing is started anew, and ends the process when that doesn’t help', async () => {
  const { seen, line } = watch({ due: 3 });
  await until(() => seen.gaveUp > 0);
  expect(seen).toMatchObject({ started: 2, abandoned: 1, hung: 2 });
  await line.stop();
});

test.each([
  ['without work', { due: 0 }],
  ['that fetches', { due: 3, fetches: true }],
])('a line %s is left alone', async (_, facts) => {
  const { seen, line } = watch(facts);
  let looks = 0;
  await until(() => ++looks > 2_000);
  expect(seen).toEqual({ started: 1, abandoned: 0, gaveUp: 0, hung: 0 });
  await line.stop();
});
