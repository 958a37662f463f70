import { createLogger, type Logger } from '@herald/infra';
import { createBacklogRunner, type BacklogDelivery } from './backlog-runner.ts';
import { createDestinationGate, type Pass, type SendEnd } from './destination-gate.ts';

const silent: Logger = {
  ...createLogger({ level: 'error', process: 'test', readable: false }),
  error: () => undefined,
};

/** Lets everything that is ready run, and what that makes ready. */
const turn = async () => {
  for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
};

type Work = BacklogDelivery & { end: (end: SendEnd) => Promise<void>; fail: () => Promise<void> };

/** A runner over backlogs in memory. Attempts stay in flight until the test ends them. */
function run({ share = 3, isOpen = false }: { share?: number; isOpen?: boolean } = {}) {
  const waiting: string[] = [];
  const inFlight: Work[] = [];
  const ended: SendEnd[] = [];
  const leases: number[] = [];
  const limits: number[] = [];
  const state = { isOpen, isProbing: false, takes: 0, room: share, faults: 0 };
  let holdTakes: Promise<void> | undefined;
  const runner = createBacklogRunner({
    metrics: {
      ownFault: () => {
        state.faults++;
      },
    },
    gate: {
      enter: (destination): Pass | undefined => {
        if (state.room === 0) return undefined;
        state.room--;
        return { destination, startedAt: 0 };
      },
      leave: (_pass, end) => {
        state.room++;
        ended.push(end);
      },
    },
    backlog: {
      async take(_destination, now, leaseEndsAt, limit) {
        state.takes++;
        leases.push(leaseEndsAt - now);
        limits.push(limit);
        const isProbe = state.isOpen;
        const ids = isProbe && state.isProbing ? [] : waiting.splice(0, isProbe ? 1 : limit);
        if (ids.length > 0 && isProbe) state.isProbing = true;
        await holdTakes;
        if (ids.length === 0) return { kind: waiting.length > 0 ? 'wait' : 'empty' };
        return { kind: 'taken', deliveries: ids.map((id) => ({ id, loaded: undefined })), isProbe };
      },
    },
    attempt: (delivery) =>
      new Promise<SendEnd>((resolve, reject) => {
        const settle = async (how: () => void) => {
          inFlight.splice(inFlight.indexOf(work), 1);
          how();
          await turn();
        };
        const work: Work = {
          ...delivery,
          end: (end) =>
            settle(() => {
              if (delivery.isProbe) state.isProbing = false;
              if (end === 'answered') state.isOpen = false;
              resolve(end);
            }),
          fail: () =>
            settle(() => {
              reject(new Error('ours'));
            }),
        };
        inFlight.push(work);
      }),
    leaseMs: 20_000,
    logger: silent,
    now: () => 1_000,
  });
  return {
    ...{ runner, waiting, inFlight, ended, leases, limits, state },
    holdTakes: () => {
      const held = Promise.withResolvers<undefined>();
      holdTakes = held.promise;
      return async () => {
        holdTakes = undefined;
        held.resolve(undefined);
        await turn();
      };
    },
    poke: async () => {
      runner.poke('dst');
      await turn();
    },
    ids: () => inFlight.map(({ id }) => id),
  };
}

test('one poke fills the destination’s room, and every send that ends lets the next one in', async () => {
  const { waiting, poke, ids, inFlight, leases } = run();
  waiting.push('a', 'b', 'c', 'd', 'e');
  await poke();
  expect(ids()).toEqual(['a', 'b', 'c']);
  await inFlight[1]?.end('answered');
  expect(ids()).toEqual(['a', 'c', 'd']);
  await inFlight[0]?.end('unanswered');
  expect(ids()).toEqual(['c', 'd', 'e']);
  while (inFlight.length > 0) await inFlight[0]?.end('answered');
  expect(new Set(leases)).toEqual(new Set([20_000]));
});

test('as long as takes bring all that they may, the next ones may bring twice as many, up to ten', async () => {
  const { waiting, limits, poke, ids, state } = run({ share: 40 });
  waiting.push(...Array.from({ length: 30 }, (_, index) => String(index)));
  await poke();
  expect(ids()).toHaveLength(30);
  expect(limits).toEqual([1, 2, 4, 8, 10, 10]);
  expect(state.room).toBe(10); // what the last one didn't need is free
});

test('a take asks for no more than there is room for', async () => {
  const { waiting, limits, poke, ids } = run({ share: 5 });
  waiting.push(...Array.from({ length: 30 }, (_, index) => String(index)));
  await poke();
  expect(ids()).toHaveLength(5);
  expect(limits).toEqual([1, 2, 2]);
});

test('when nothing waits it gives its room back and asks no more', async () => {
  const { state, poke, ended } = run();
  await poke();
  expect(state).toMatchObject({ takes: 1, room: 3 });
  expect(ended).toEqual(['unsent']);
});

test('without room it takes nothing', async () => {
  const { state, waiting, poke } = run({ share: 0 });
  waiting.push('a');
  await poke();
  expect(state.takes).toBe(0);
});

test('an open breaker lets one probe out; its answer lets the rest go, up to the room', async () => {
  const { waiting, poke, ids, inFlight, state } = run({ isOpen: true });
  waiting.push('a', 'b', 'c', 'd');
  await poke();
  await poke();
  expect(ids()).toEqual(['a']);
  expect(state.takes).toBe(2); // one for each poke: a probe calls for no other
  expect(inFlight[0]).toMatchObject({ isProbe: true });
  await inFlight[0]?.end('unanswered');
  expect(ids()).toEqual(['b']);
  await inFlight[0]?.end('answered');
  expect(ids()).toEqual(['c', 'd']);
  expect(inFlight.map(({ isProbe }) => isProbe)).toEqual([false, false]);
});

test('pokes that come while it takes make one take more when the first found nothing, and no more', async () => {
  const { state, waiting, holdTakes, poke, ids } = run();
  const letGo = holdTakes();
  await poke();
  // It came after the store had answered "empty".
  waiting.push('a');
  for (let count = 0; count < 5; count++) await poke();
  expect(state.takes).toBe(1);
  await letGo();
  expect(ids()).toEqual(['a']);
  expect(state.takes).toBe(3); // the empty one, that of `a`, and the one that looks for more beside it
});

test('a fault of our own leaves the delivery to its lease, frees the room, and doesn’t loop', async () => {
  const { waiting, poke, ids, inFlight, state, ended } = run();
  waiting.push('a');
  await poke();
  const { takes } = state;
  await inFlight[0]?.fail();
  expect(ids()).toEqual([]);
  expect(ended).toContain('unsent');
  expect(state).toMatchObject({ room: 3, takes, faults: 1 });
  waiting.push('b');
  await poke();
  expect(ids()).toEqual(['b']);
});

test('takes that fail are not made again and again, however much room there was for them', async () => {
  const faults: unknown[] = [];
  let takes = 0;
  const gate = createDestinationGate({ concurrency: 10, share: 5, now: () => 0 }, (destination) => {
    runner.poke(destination);
  });
  let isFailing = false;
  const runner = createBacklogRunner({
    gate,
    backlog: {
      take: async (_destination, _now, _leaseEndsAt, limit) => {
        takes++;
        await new Promise((resolve) => setImmediate(resolve));
        if (isFailing) throw new Error('Redis takes no writes');
        const deliveries = Array.from({ length: limit }, (_, index) => ({
          id: `${takes}.${index}`,
          loaded: undefined,
        }));
        return { kind: 'taken', deliveries, isProbe: false };
      },
    },
    attempt: async () => {
      await turn();
      return 'unanswered';
    },
    leaseMs: 20_000,
    metrics: { ownFault: () => faults.push(takes) },
    logger: silent,
    now: () => 1_000,
  });
  runner.poke('dst');
  await turn();
  isFailing = true;
  takes = 0;
  for (let turns = 0; turns < 20; turns++) await turn();
  // At most one for each attempt that was under way, and one more.
  expect(takes).toBeLessThan(12);
  expect(faults.length).toBeGreaterThan(0);
  await runner.stop();
});

test('a stop takes nothing more and waits for what is in flight', async () => {
  const { runner, waiting, poke, ids, inFlight } = run();
  waiting.push('a', 'b', 'c', 'd');
  await poke();
  let hasStopped = false;
  const stopped = runner.stop().then(() => {
    hasStopped = true;
  });
  await poke();
  await inFlight[0]?.end('answered');
  await inFlight[0]?.end('answered');
  expect(hasStopped).toBe(false);
  await inFlight[0]?.end('answered');
  await stopped;
  expect(ids()).toEqual([]);
  expect(waiting).toEqual(['d']);
});

test('what it was just taking when it was stopped is still attempted, and waited for', async () => {
  const { runner, waiting, poke, ids, inFlight, holdTakes } = run();
  waiting.push('a');
  const letGo = holdTakes();
  await poke();
  const stopped = runner.stop();
  await letGo();
  expect(ids()).toEqual(['a']);
  await inFlight[0]?.end('answered');
  await stopped;
});
