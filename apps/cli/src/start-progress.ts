import type { ResealProgress } from '@herald/infra';
import { Presets, SingleBar } from 'cli-progress';

/** A bar on a terminal's stderr, so that stdout stays what a program can read; elsewhere nothing. */
export function startProgress() {
  if (!process.stderr.isTTY) return { show: () => undefined, stop: () => undefined };
  const format = 'round {round} {bar} {percentage}% of about {total} keys';
  const bar = new SingleBar({ format, stream: process.stderr, clearOnComplete: true }, Presets.shades_classic);
  bar.start(1, 0, { round: 1 });
  return {
    show: ({ round, looked, total }: ResealProgress) => {
      bar.setTotal(Math.max(1, total));
      bar.update(looked, { round });
    },
    stop: () => {
      bar.stop();
    },
  };
}
