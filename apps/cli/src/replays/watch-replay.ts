import { setTimeout as delay } from 'node:timers/promises';
import type { Replay } from '@herald/infra';
import type { StartProgress } from '../start-progress.ts';

const LOOK_EVERY_MS = 500;

export type WatchReplayDeps = {
  readonly read: () => Promise<Replay>;
  readonly started: Replay;
  readonly startProgress: StartProgress;
  readonly note: (text: string) => void;
};

/** Waits until the replay has ended. Ctrl-C ends the watching alone, since workers carry the replay out. */
export async function watchReplay({ read, started, startProgress, note }: WatchReplayDeps): Promise<Replay> {
  const progress = startProgress('{bar} {value} of {total} deliveries looked at, {replayed} replayed');
  const interrupted = new AbortController();
  const onInterrupt = () => {
    interrupted.abort();
  };
  process.once('SIGINT', onInterrupt);
  let replay = started;
  try {
    while (replay.status === 'running' && !interrupted.signal.aborted) {
      progress.show(replay.seen, replay.total, { replayed: replay.replayed });
      await delay(LOOK_EVERY_MS, undefined, { signal: interrupted.signal }).catch(() => undefined);
      replay = await read();
    }
  } finally {
    process.off('SIGINT', onInterrupt);
    progress.stop();
  }
  if (interrupted.signal.aborted && replay.status === 'running') {
    note(`Not watching any more; the replay goes on. To end it: herald replay stop ${replay.id}`);
    process.exitCode = 130;
  }
  return replay;
}
