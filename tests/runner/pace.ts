import { availableParallelism } from 'node:os';

/** How tests run on this machine. */
export type Pace = {
  readonly isSlow: boolean;
  /** Test files at a time. */
  readonly files: number;
};

/** The share of the time in which the machine stands still. Of one that is its own host's only guest it is about 0. */
const SLOW_FROM = 0.25;
/** How long that is looked for, and a pause of 2 ms that took so long shows it, in ms. */
const LOOKED_FOR_MS = 1_000;
const LATE_FROM_MS = 20;
/** So many times as long do tests wait for anything on a slow machine. */
const SLOW_PATIENCE = 4;
/** End-to-end tests begin for so long on a slow machine, in minutes: all of them take 7 elsewhere, and would take an hour and a half. */
const SLOW_MINUTES = 25;

/**
 * Looks once, for a second, how often the machine stands still, and hands on by the environment what jest's processes need:
 * `HERALD_TEST_PATIENCE` to `patient` of the test kit, `HERALD_TEST_UNTIL` to `isLeftOut`.
 */
export function findPace(env: NodeJS.ProcessEnv = process.env, standstill: () => number = measureStandstill): Pace {
  // The processes of jest read its configuration too.
  if (env.HERALD_TEST_PATIENCE === undefined) {
    const isSlow = standstill() >= SLOW_FROM;
    env.HERALD_TEST_PATIENCE = String(isSlow ? SLOW_PATIENCE : 1);
    if (isSlow && env.CI === 'true') env.HERALD_TEST_UNTIL = String(Date.now() + SLOW_MINUTES * 60_000);
  }
  const isSlow = Number(env.HERALD_TEST_PATIENCE) > 1;
  // Jest's own choice is one less than the processors. Most end-to-end tests wait for other processes, so with few files
  // at a time the processors are half idle. On a slow machine they never are, and more files only make all of them late.
  return { isSlow, files: availableParallelism() + (isSlow ? 0 : 4) };
}

/** The title of the one test that stands for a file that is left out. */
export const LEFT_OUT = 'left out for want of time';

/** Whether a file of end-to-end tests is left out of a run of CI that has taken too long. The run says so, and counts it. */
export function isLeftOut(project: string | undefined, { HERALD_TEST_UNTIL: until } = process.env): boolean {
  return project === 'e2e' && until !== undefined && Date.now() > Number(until);
}

/** A machine whose host has no time for it wakes nobody for 50 to 300 ms, several times a second. */
function measureStandstill(): number {
  const never = new Int32Array(new SharedArrayBuffer(4));
  const startedAt = performance.now();
  let [at, stoodStillMs] = [startedAt, 0];
  while (at < startedAt + LOOKED_FOR_MS) {
    Atomics.wait(never, 0, 0, 2);
    const passedMs = performance.now() - at;
    if (passedMs > LATE_FROM_MS) stoodStillMs += passedMs;
    at += passedMs;
  }
  return stoodStillMs / (at - startedAt);
}
