import { existsSync, globSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Env } from './start-herald-process.ts';

export interface FakeClock extends AsyncDisposable {
  /** For a process that is to believe it. */
  readonly env: Env;
  /** How wrong it is from now on: ahead by so many ms, negative: behind; and how much faster than right it goes, since the process started. */
  set(offsetMs: number, rate?: number): void;
}

/** Debian's package `libfaketime`, and where others put it. */
const LIBRARY = globSync(['/usr/lib/*/faketime/libfaketime.so.1', '/usr/lib/faketime/libfaketime.so.1']).find((file) =>
  existsSync(file),
);
const INJECTED = new URL('inject-clock.ts', import.meta.url).href;

/** A clock for a process: libfaketime's where it is installed, else one that is put into Node. The monotonic clock stays right in both. */
export async function createFakeClock(offsetMs = 0, rate = 1): Promise<FakeClock> {
  const folder = await mkdtemp(join(tmpdir(), 'herald-clock-'));
  const file = join(folder, 'clock');
  const set = (offset: number, factor = 1) => {
    const seconds = (offset / 1_000).toFixed(3);
    writeFileSync(file, `${offset < 0 ? '' : '+'}${seconds}${factor === 1 ? '' : ` x${factor}`}\n`);
  };
  set(offsetMs, rate);
  const env: Env =
    LIBRARY === undefined
      ? { HERALD_TEST_CLOCK: file, NODE_OPTIONS: `--import=${INJECTED}` }
      : {
          LD_PRELOAD: LIBRARY,
          FAKETIME_TIMESTAMP_FILE: file,
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
          FAKETIME_CACHE_DURATION: '1',
        };
  return { env, set, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
