import { HistoryUnavailableError } from '@herald/core';
import { createLogger, type Logger } from '@herald/runtime/log';
import { waitFor } from '@herald/test-kit';
import type { ReplaySteps } from '@herald/store/bulk/replay-steps';
import { createOnFailed, createReplayFeed, runPurges, startMaintenance } from './maintenance.ts';

const NOW = 1_000_000;
const silent: Logger = {
  ...createLogger({ level: 'error', process: 'test', readable: false }),
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

type Step = ReturnType<ReplaySteps['step']>;

const onFailed = (error: unknown) => {
  throw error;
};

describe('feeding replays', () => {
  test.each<{ when: string; replies: ('stepped' | 'wait' | 'ended')[]; asked: number }>([
    { when: 'goes on', replies: ['stepped'], asked: 25 },
    { when: 'waits for others', replies: ['stepped', 'stepped', 'wait'], asked: 3 },
    { when: 'ends', replies: ['ended'], asked: 1 },
  ])('one that $when is asked for $asked steps in a round', async ({ replies, asked }) => {
    let calls = 0;
    const replays = {
      claim: () => Promise.resolve(['rpl_1']),
      step: () =>
        Promise.resolve({ kind: replies[Math.min(calls++, replies.length - 1)] ?? ('ended' as const), replayed: 2 }),
    };
    let replayed = 0;
    const reportReplayed = (deliveries: number) => {
      replayed += deliveries;
    };
    const feed = createReplayFeed({ replays, reportReplayed, onFailed, now: () => NOW });
    expect(await feed.run()).toBe(1);
    expect(calls).toBe(asked);
    expect(replayed).toBe(2 * asked);
  });

  test.each<{ what: string; step: (slow: Step) => Step; told: unknown[] }>([
    { what: 'waits', step: () => Promise.resolve({ kind: 'wait', replayed: 0 }), told: [] },
    { what: 'has a history that is away', step: () => Promise.reject(new HistoryUnavailableError()), told: [] },
    { what: 'has a history that is slow', step: (slow) => slow, told: [] },
    { what: 'fails', step: () => Promise.reject(new Error('a bug')), told: [new Error('a bug')] },
  ])('one that $what holds up no other, in no round', async ({ step, told }) => {
    const slow = Promise.withResolvers<Awaited<Step>>();
    const asked: string[] = [];
    const errors: unknown[] = [];
    const feed = createReplayFeed({
      replays: {
        claim: () => Promise.resolve(['first', 'goes']),
        step: (id: string) => {
          asked.push(id);
          return id === 'first' ? step(slow.promise) : Promise.resolve({ kind: 'stepped', replayed: 0 });
        },
      },
      reportReplayed: () => undefined,
      onFailed: (error) => errors.push(error),
      now: () => NOW,
    });
    for (let round = 1; round <= 2; round++) {
      await feed.run();
      expect(asked.filter((id) => id === 'goes')).toHaveLength(25 * round);
    }
    expect(errors.slice(0, told.length)).toEqual(told);
    slow.resolve({ kind: 'ended', replayed: 0 });
    await feed.drain();
  });
});

test('a purge that fails is told, and the others of its round go on', async () => {
  const errors: unknown[] = [];
  const reported: string[] = [];
  await runPurges({
    reportPurged: (endpointId) => reported.push(endpointId),
    purges: {
      claim: () => Promise.resolve({ due: 2, ids: ['wh_1', 'wh_2'] }),
      async *purge(id) {
        if (id === 'wh_1') throw new Error('a bug');
        yield await Promise.resolve([{ id: 'dlv_a', event: 'task.done', reason: 'receiver_removed' }]);
      },
    },
    onFailed: (error) => errors.push(error),
    logger: silent,
    now: () => NOW,
  });
  expect(errors).toEqual([new Error('a bug')]);
  expect(reported).toEqual(['wh_2']);
});

test('a round of purges gives each endpoint a turn, tells of what it ended step by step, and returns how many were due', async () => {
  const reported: string[] = [];
  const purged = (id: string) => ({ id, event: 'task.done', reason: 'receiver_removed' }) as const;
  const due = await runPurges({
    reportPurged: (endpointId, deliveries) => {
      reported.push(...deliveries.map(({ id }) => `${endpointId} ${id}`));
    },
    purges: {
      // Nothing waited for the others.
      claim: () => Promise.resolve({ due: 10, ids: ['wh_1', 'wh_2'] }),
      async *purge(id) {
        yield [purged('dlv_a'), purged('dlv_b')];
        await Promise.resolve();
        yield [];
        if (id === 'wh_1') yield [purged('dlv_c')];
      },
    },
    onFailed,
    logger: silent,
    now: () => NOW,
  });
  expect(due).toBe(10);
  expect(reported).toEqual(['wh_1 dlv_a', 'wh_1 dlv_b', 'wh_1 dlv_c', 'wh_2 dlv_a', 'wh_2 dlv_b']);
});

test('what fails is counted, and written into the log', () => {
  const told: unknown[] = [];
  const logger: Logger = { ...silent, warn: (event, _, error) => told.push(event, error) };
  createOnFailed({ maintenanceFailed: () => told.push('counted') }, logger)(new Error('a bug'));
  expect(told).toEqual(['counted', 'maintenance.failed', new Error('a bug')]);
});

describe('maintenance', () => {
  /** Runs a routine until `rounds` of it have ended. */
  async function runRounds(routine: () => Promise<unknown>, rounds: number) {
    const enough = Promise.withResolvers<undefined>();
    let begun = 0;
    let counted = 0;
    const maintenance = startMaintenance({
      routine: async () => {
        if (++begun > rounds) enough.resolve(undefined);
        await routine();
      },
      everyMs: 1,
      onFailed: () => counted++,
      random: () => 0.5,
    });
    await enough.promise;
    await maintenance.stop();
    return { begun, counted };
  }

  test('goes on after a round that fails, and tells each failure', async () => {
    let failures = 0;
    const { counted } = await runRounds(() => {
      failures++;
      return Promise.reject(new Error('Redis is away'));
    }, 5);
    expect(failures).toBeGreaterThanOrEqual(5);
    expect(counted).toBe(failures);
  });

  test('rests after a round that has found nothing, and goes on at once after one that has', async () => {
    const found = [1, 2, 0];
    let rounds = 0;
    const maintenance = startMaintenance({
      routine: () => Promise.resolve(found[rounds++] ?? 0),
      everyMs: 1,
      atRestMs: 3_600_000,
      onFailed,
      random: () => 0.5,
    });
    await waitFor('the rounds', () => rounds === found.length);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await maintenance.stop();
    expect(rounds).toBe(found.length);
  });

  test('waits after a round that fails as long as after one that has found nothing', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    try {
      let failures = 0;
      const maintenance = startMaintenance({
        routine: () => Promise.reject(new Error('Redis is away')),
        everyMs: 1,
        atRestMs: 1_000,
        onFailed: () => failures++,
        random: () => 0.5,
      });
      await jest.advanceTimersByTimeAsync(3_500);
      await maintenance.stop();
      expect(failures).toBe(4);
    } finally {
      jest.useRealTimers();
    }
  });

  test('goes on after each rest, and not after a stop during one', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    try {
      let rounds = 0;
      const maintenance = startMaintenance({
        routine: () => Promise.resolve(rounds++ * 0),
        everyMs: 1,
        atRestMs: 1_000,
        onFailed,
        random: () => 0.5,
      });
      for (const count of [1, 2, 3]) {
        await jest.advanceTimersByTimeAsync(1_000);
        expect(rounds).toBeGreaterThanOrEqual(count);
      }
      await maintenance.stop();
      const atStop = rounds;
      expect(jest.getTimerCount()).toBe(0);
      await jest.advanceTimersByTimeAsync(10_000);
      expect(rounds).toBe(atStop);
    } finally {
      jest.useRealTimers();
    }
  });

  test('never runs two rounds at once', async () => {
    let running = 0;
    let most = 0;
    const slow = async () => {
      most = Math.max(most, ++running);
      for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
      running--;
    };
    await runRounds(slow, 5);
    expect(most).toBe(1);
  });

  test('a stop waits for the round under way, begins no other, and may be called twice', async () => {
    const begun = Promise.withResolvers<undefined>();
    const release = Promise.withResolvers<undefined>();
    let rounds = 0;
    let ended = false;
    const maintenance = startMaintenance({
      routine: async () => {
        rounds++;
        begun.resolve(undefined);
        await release.promise;
        ended = true;
      },
      everyMs: 1,
      onFailed,
      random: () => 0,
    });
    await begun.promise;
    const stops = [maintenance.stop(), maintenance.stop()];
    expect(ended).toBe(false);
    release.resolve(undefined);
    await Promise.all(stops);
    expect(ended).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(rounds).toBe(1);
  });
});
