import { BEAT_MS } from '@herald/runtime/beat';
import { createStuckCheck, startHeartbeat } from './open-connections.ts';

/** Checks every five seconds, beginning when one connection has had no answer for 61 s. */
function start() {
  const state = { now: 100_000, lastAnswerAt: 39_000, isAway: false };
  const told: [string, number][] = [];
  const run = createStuckCheck({
    connections: () => [
      { name: 'well', lastAnswerAt: state.now },
      { name: 'stuck', lastAnswerAt: state.lastAnswerAt },
    ],
    askAnew: () => (state.isAway ? Promise.reject(new Error('ECONNREFUSED')) : Promise.resolve()),
    onStuck: (...stuck) => {
      told.push(stuck);
    },
    now: () => state.now,
  });
  const check = async (times: number) => {
    for (let round = 0; round < times; round++) {
      await run();
      state.now += 5_000;
    }
  };
  return { state, told, check };
}

test('a connection without an answer for a minute, though new ones have been answered for half a minute, is stuck', async () => {
  const { told, check } = start();
  await check(6);
  expect(told).toEqual([]);
  await check(1);
  expect(told).toEqual([['stuck', 91_000]]);
});

test('none is stuck while Redis is away, nor in the moment when it comes back', async () => {
  const { state, told, check } = start();
  state.isAway = true;
  await check(30);
  state.isAway = false;
  await check(2);
  state.lastAnswerAt = state.now; // it needed a moment longer than the new one
  await check(10);
  expect(told).toEqual([]);
});

test('half a minute counts from the last time that Redis was away', async () => {
  const { state, told, check } = start();
  await check(5);
  state.isAway = true;
  await check(1);
  state.isAway = false;
  await check(6);
  expect(told).toEqual([]);
  await check(1);
  expect(told).toHaveLength(1);
});

test('a connection that was answered within the last minute is not looked at', async () => {
  const { state, told, check } = start();
  state.lastAnswerAt = 500_000;
  await check(30);
  expect(told).toEqual([]);
});

test('a server that owes an answer is silent at the beat nearest to a second after the question, also if that comes early', async () => {
  jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'queueMicrotask', 'setImmediate'] });
  const ping = () => new Promise<never>(() => undefined);
  const { isSilent, stop } = startHeartbeat({ status: 'ready', ping } as never, 'commands');
  try {
    const beat = async (ms: number) => {
      jest.advanceTimersByTime(ms);
      await new Promise(setImmediate);
      return isSilent();
    };
    // Each beat is on time. The question was noted a millisecond after the first.
    expect([await beat(BEAT_MS + 1), await beat(BEAT_MS - 1)]).toEqual([false, true]);
  } finally {
    stop();
    jest.useRealTimers();
  }
});
