import { createMonotonicClock, type TimeSample } from './clock.ts';

const REDIS_START = 1_900_000_000_000;

/** A machine whose monotonic clock is at 0 when Redis' time is `REDIS_START`. */
function createMachine(first: Partial<TimeSample> = {}) {
  let monotonicMs = 0;
  let wallMs = REDIS_START;
  const clocks = { monotonic: () => monotonicMs, wallClock: () => wallMs };
  const clock = createMonotonicClock({ redisMs: REDIS_START, askedAt: 0, answeredAt: 0, ...first }, clocks);
  return {
    clock,
    pass(ms: number) {
      monotonicMs += ms;
      wallMs += ms;
    },
    setWallClock(aheadMs: number) {
      wallMs = REDIS_START + monotonicMs + aheadMs;
    },
    /** Asks Redis now, whose clock is ahead by so much, and gets the answer after a while each way. */
    ask({ redisAheadMs = 0, thereMs = 0, backMs = 0 } = {}) {
      const askedAt = monotonicMs;
      monotonicMs += thereMs;
      const redisMs = REDIS_START + monotonicMs + redisAheadMs;
      monotonicMs += backMs;
      return clock.learn({ redisMs, askedAt, answeredAt: monotonicMs });
    },
    offMs: () => clock.now() - (REDIS_START + monotonicMs),
  };
}

test('the time is Redis’, in whole ms, whatever this machine’s clock says', () => {
  const { clock, pass, setWallClock } = createMachine();
  setWallClock(3_600_000);
  pass(1_500.7);
  expect(clock.now()).toBe(REDIS_START + 1_500);
});

test.each([3_600_000, -3_600_000, 900])('a clock that is %d ms ahead is told so', (aheadMs) => {
  const { clock, setWallClock } = createMachine();
  setWallClock(aheadMs);
  expect(clock.skewMs()).toBe(aheadMs);
});

test('a slow answer doesn’t make a well-known time worse', () => {
  const machine = createMachine();
  for (let round = 0; round < 20; round++) {
    machine.pass(5_000);
    expect(machine.ask({ thereMs: 0, backMs: 200 })).toBe(0);
    machine.pass(1);
    machine.ask({ thereMs: 1, backMs: 1 });
    expect(Math.abs(machine.offMs())).toBeLessThanOrEqual(3);
  }
});

test('a quick answer mends what a slow one left open', () => {
  const machine = createMachine({ askedAt: -400, answeredAt: 0 });
  expect(machine.offMs()).toBe(200);
  machine.ask({ thereMs: 1, backMs: 1 });
  expect(Math.abs(machine.offMs())).toBeLessThanOrEqual(1);
});

test('a clock that drifts is followed', () => {
  const machine = createMachine();
  for (let round = 1; round <= 100; round++) {
    machine.pass(5_000);
    // 100 ppm: half a ms in five seconds.
    expect(machine.ask({ redisAheadMs: round / 2 })).toBe(0);
    expect(Math.abs(machine.offMs() - round / 2)).toBeLessThanOrEqual(3);
  }
});

test.each([-40, 40])(
  'an answer that is a minute late, of a server whose clock is %d ms off, moves the time by little',
  (redisAheadMs) => {
    const machine = createMachine();
    machine.pass(5_000);
    const lateMs = 60_000;
    machine.ask(redisAheadMs > 0 ? { redisAheadMs, thereMs: lateMs } : { redisAheadMs, backMs: lateMs });
    // Of a minute a clock that is well kept drifts by 30 ms.
    expect(Math.abs(machine.offMs())).toBeLessThan(100);
  },
);

test.each([3_600_000, -3_600_000, 700])('a jump of Redis’ time by %d ms is taken over at once, and told', (jumpMs) => {
  const machine = createMachine();
  machine.pass(5_000);
  expect(machine.ask({ redisAheadMs: jumpMs })).toBeCloseTo(jumpMs, -1);
  expect(Math.abs(machine.offMs() - jumpMs)).toBeLessThanOrEqual(1);
});
