import { Presets, SingleBar } from 'cli-progress';
import type { OutputStream } from '../output/create-output.ts';

/** Shows bars on the stderr of a terminal, so that programs can read stdout. Elsewhere it shows nothing. */
export function createStartProgress(stderr: OutputStream) {
  return (format: string) => {
    const bar = new SingleBar({ format, stream: stderr, clearOnComplete: true }, Presets.shades_classic);
    return {
      show: (done: number, total: number, words: Readonly<Record<string, string | number>> = {}): void => {
        if (stderr.isTTY !== true) return;
        // The first call brings the words that the format needs.
        if (!bar.isActive) bar.start(Math.max(1, total), done, words);
        bar.setTotal(Math.max(1, total));
        bar.update(done, words);
      },
      stop: (): void => {
        if (bar.isActive) bar.stop();
      },
    };
  };
}
export type StartProgress = ReturnType<typeof createStartProgress>;
