import { Presets, SingleBar } from 'cli-progress';

export type Progress = {
  readonly show: (done: number, total: number, words?: Readonly<Record<string, string | number>>) => void;
  readonly stop: () => void;
};

/** A bar on a terminal's stderr, so that stdout stays what a program can read; elsewhere nothing. */
export type StartProgress = (format: string) => Progress;

export const startProgress: StartProgress = (format) => {
  if (!process.stderr.isTTY) return { show: () => undefined, stop: () => undefined };
  const bar = new SingleBar({ format, stream: process.stderr, clearOnComplete: true }, Presets.shades_classic);
  let isStarted = false;
  return {
    show(done, total, words = {}) {
      // Only now are the words known.
      if (!isStarted) bar.start(Math.max(1, total), done, words);
      isStarted = true;
      bar.setTotal(Math.max(1, total));
      bar.update(done, words);
    },
    stop() {
      if (isStarted) bar.stop();
    },
  };
};
