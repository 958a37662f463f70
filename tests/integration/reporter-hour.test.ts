import { createExecutorClient, createReporter, type Transition } from '@herald/client';
import { sized } from '../support/sized.ts';

const { advanceTimersByTimeAsync, useFakeTimers, useRealTimers } = jest;

const SECOND = 1_000;
/** An hour in `npm run test:soak`. The clock is a false one, and runs as fast as there is work. */
const SECONDS = sized(20, 3_600);
const PER_SECOND = 1_000;
const TASKS = 100;

/** What an API does, one after the other: it is there, away as a proxy says, gone, deaf, or accepts and hangs up. */
const MOODS = ['up', 'up', 'bad gateway', 'up', 'gone', 'up', 'answers are lost', 'up', 'deaf', 'up'] as const;

const MOOD_MS = sized(1, 7) * SECOND;

/** An API that keeps the last checkpoint of each Task, and counts what came for the first time, and what left a gap. */
function createApi() {
  const last = new Map<string, number>();
  const api = { accepted: 0, repeated: 0, outOfOrder: 0, fails: new Set<string>() };
  const accept = (body: string) => {
    const { transitions } = JSON.parse(body) as { transitions: { taskId: string; checkpointId: string }[] };
    for (const { taskId, checkpointId } of transitions) {
      const number = Number(checkpointId);
      const before = last.get(taskId) ?? -1;
      if (number <= before) api.repeated++;
      else if (number > before + 1) api.outOfOrder++;
      else api.accepted++;
      last.set(taskId, Math.max(before, number));
    }
    return Response.json({ results: transitions.map(() => ({ duplicate: false })) });
  };
  const fetch = (_url: string, { body, signal }: RequestInit) => {
    const mood = MOODS[Math.floor(Date.now() / MOOD_MS) % MOODS.length];
    if (mood !== undefined) api.fails.add(mood);
    if (mood === 'gone') return Promise.reject(new TypeError('connection refused'));
    if (mood === 'bad gateway') return Promise.resolve(new Response('<p>Bad Gateway', { status: 502 }));
    if (mood === 'deaf') {
      return new Promise<Response>((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          reject(new TypeError('aborted'));
        });
      });
    }
    const answer = accept(body as string);
    return mood === 'up' ? Promise.resolve(answer) : Promise.reject(new TypeError('other side closed'));
  };
  return Object.assign(api, { fetch });
}

beforeEach(() => {
  useFakeTimers({ now: 0, doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance'] });
});
afterEach(() => {
  useRealTimers();
});

test(
  '1,000 reports a second to an API that comes and goes: none is lost, none overtakes, few are held',
  async () => {
    const api = createApi();
    const client = createExecutorClient({ baseUrl: 'https://herald.test', key: 'hrld_1', fetch: api.fetch });
    const reporter = createReporter(client);
    const startsAt = Date.now();
    const total = SECONDS * PER_SECOND;
    const faults: unknown[] = [];
    let [given, settled, mostHeld] = [0, 0, 0];

    const reportAll = async () => {
      while (given < total) {
        const dueIn = startsAt + (given / PER_SECOND) * SECOND - Date.now();
        if (dueIn > 0) await new Promise((resolve) => setTimeout(resolve, dueIn));
        for (let count = 0; count < PER_SECOND; count++) {
          await reporter.ready();
          const checkpointId = String(Math.floor(given / TASKS));
          const fact = {
            taskId: `t${given % TASKS}`,
            type: 'checkpoint',
            checkpointId,
            canonical: true,
            material: false,
          };
          reporter.report(fact as Transition).then(
            () => settled++,
            (error: unknown) => faults.push(error),
          );
          mostHeld = Math.max(mostHeld, ++given - settled);
        }
      }
      return reporter.close();
    };
    let closed: unknown;
    void reportAll().then((last) => (closed = last));
    while (closed === undefined) await advanceTimersByTimeAsync(SECOND);

    expect({ closed, faults }).toEqual({ closed: { unreported: [] }, faults: [] });
    expect({ given, settled, accepted: api.accepted, outOfOrder: api.outOfOrder }).toEqual({
      given: total,
      settled: total,
      accepted: total,
      outOfOrder: 0,
    });
    // In a short run the reporter may pause through one of them.
    expect(new Set(MOODS).size - api.fails.size).toBeLessThanOrEqual(sized(1, 0));
    expect(api.repeated).toBeGreaterThan(0);
    expect(mostHeld).toBeLessThanOrEqual(10_000);
  },
  sized(30_000, 1_200_000),
);
