import { globSync, readFileSync } from 'node:fs';
import { startFloodWatch } from '@herald/egress/guarded-agent';
import { createResources } from '@herald/runtime/lifecycle';
import { startClock } from '@herald/store/redis/clock';
import { createKeyspace } from '@herald/store/keys/keys';
import { startMemoryGuard } from '@herald/store/stats/memory-guard';
import { startHeartbeat } from '@herald/store/redis/open-connections';
import { takeUpgradeLease } from '@herald/store/data/take-over-data';
import { waitFor } from '@herald/test-kit';
import { startPresence } from '../../apps/worker/src/worker.ts';

/** How long is waited for what an interval does, in ms. */
const DEADLINE_MS = 3_000;
const ignore = () => undefined;
const INFO = 'used_memory:1\r\nmaxmemory:100\r\n';

type Part = { readonly everyMs: number; readonly start: (done: () => void) => Promise<() => unknown> };

/** What each does again and again, on a Redis that answers at once and says that it was asked. */
const PARTS: Readonly<Record<string, Part>> = {
  startClock: {
    everyMs: 5_000,
    async start(done) {
      const time = () => Promise.resolve([String(Math.floor(Date.now() / 1_000)), '0']).finally(done);
      return (await startClock({ time } as never)).stop;
    },
  },
  startHeartbeat: {
    everyMs: 1_000,
    start(done) {
      const ping = () => Promise.resolve('PONG').finally(done);
      return Promise.resolve(startHeartbeat({ status: 'ready', ping } as never, 'commands').stop);
    },
  },
  startMemoryGuard: {
    everyMs: 1_000,
    start(done) {
      const info = () => Promise.resolve(INFO).finally(done);
      const deps = { redis: { info } as never, keyspace: createKeyspace(1), accounts: {} as never };
      return Promise.resolve(startMemoryGuard(deps).stop);
    },
  },
  startFloodWatch: {
    everyMs: 1_000,
    start(done) {
      const connection = { carrier: { bytesRead: 2 ** 30 }, bytesBefore: 0 } as never;
      return Promise.resolve(startFloodWatch(new Map([[1, connection]]), done));
    },
  },
  takeUpgradeLease: {
    everyMs: 2_500,
    async start(done) {
      const set = () => Promise.resolve('OK');
      const evalsha = () => Promise.resolve(1).finally(done);
      const lease = await takeUpgradeLease({ set, evalsha } as never);
      return () => lease?.release();
    },
  },
  startPresence: {
    everyMs: 4_000,
    async start(done) {
      const resources = createResources(ignore);
      const presence = { show: () => Promise.resolve().finally(done), leave: () => Promise.resolve() };
      await startPresence({ presence, now: Date.now, resources, logger: { warn: ignore } } as never);
      return () => resources.release();
    },
  },
};

/** Tests of their own count how often these act, or what is no more when they did it once. */
const SHOWN_ELSEWHERE = [
  ...['watchSentinels', 'startRefresher', 'createListeners', 'closeHttpServer'],
  // What it calls is tested, and it takes a minute to act.
  ...['openConnections', 'createGroupBackend'],
  // What runs at its beats is here.
  'atBeat',
];

test('everything that is done again and again is counted by a test', () => {
  const files = globSync('{packages/{store,egress,history,runtime,queue},apps/{api,worker}}/src/**/*.ts');
  const found = files
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => {
      const text = readFileSync(file, 'utf8');
      return [...text.matchAll(/\b(?:setInterval|(?<!function )everyBeat)\(/g)].map(
        ({ index }) =>
          [...text.slice(0, index).matchAll(/^(?:export )?(?:async )?function (\w+)/gm)].at(-1)?.[1] ?? file,
      );
    });
  expect(found.sort()).toEqual([...Object.keys(PARTS), ...SHOWN_ELSEWHERE].sort());
});

test.each(Object.entries(PARTS))('%s: it is done again each time, and no more once it has ended', async (_, part) => {
  jest.useFakeTimers({
    doNotFake: ['Date', 'nextTick', 'queueMicrotask', 'setImmediate', 'setTimeout'],
  });
  let count = 0;
  const end = await part.start(() => {
    count++;
  });
  try {
    for (const time of ['first', 'second', 'third']) {
      const before = count;
      jest.advanceTimersByTime(part.everyMs);
      await waitFor(`it to be done a ${time} time`, () => count > before, DEADLINE_MS);
    }
    await end();
    const atEnd = count;
    jest.advanceTimersByTime(part.everyMs * 3);
    expect(count).toBe(atEnd);
  } finally {
    await end();
    jest.useRealTimers();
  }
});
