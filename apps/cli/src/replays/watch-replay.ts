import { setTimeout as delay } from 'node:timers/promises';
import type { Replay } from '@herald/store/replays/replay-record';
import type { StartProgress } from '../context/start-progress.ts';

const LOOK_EVERY_MS = 500;

export type WatchReplayDeps = {
  readonly read: () => Promise<Replay>;
  readonly started: Replay;
  readonly startProgress: StartProgress;
  /** Ends the watching. The replay goes on: workers carry it out. */
  readonly signal: AbortSignal;
};

/** Shows the progress of a replay until it has ended, or `signal` is aborted. */
export async function watchReplay({ read, started, startProgress, signal }: WatchReplayDeps): Promise<Replay> {
  const progress = startProgress('{bar} {value} of {total} deliveries looked at, {replayed} replayed');
  let replay = started;
  try {
    while (replay.status === 'running' && !signal.aborted) {
      progress.show(replay.seen, replay.total, { replayed: replay.replayed });
      await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
      replay = await read();
    }
  } finally {
    progress.stop();
  }
  return replay;
}
