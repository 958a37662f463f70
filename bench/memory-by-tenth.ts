import type { MemorySample } from './measure-worker-memory.ts';
import { median } from './statistics.ts';

/** MiB near the end of a tenth of all deliveries. */
export type TenthOfMemory = {
  /** Deliveries at its end. */
  readonly delivered: number;
  readonly median: number;
  readonly least: number;
  readonly most: number;
};

/** Uses the second half of each tenth: close to its end, and longer than a garbage collection. */
export function memoryByTenth(samples: readonly MemorySample[], count: number): TenthOfMemory[] {
  return Array.from({ length: 10 }, (_, index) => {
    const end = ((index + 1) / 10) * count;
    const start = end - count / 20;
    const sizes = samples.filter(({ delivered }) => delivered > start && delivered <= end).map(({ MiB }) => MiB);
    return {
      delivered: Math.round(end),
      median: median(sizes),
      least: sizes.length > 0 ? Math.min(...sizes) : NaN,
      most: sizes.length > 0 ? Math.max(...sizes) : NaN,
    };
  });
}
