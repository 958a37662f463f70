/** How long the rate looks back, and how far apart samples must be, in ms. */
const SPAN_MS = 600_000;
const APART_MS = 10_000;
/** A rate over less says nothing, in ms. */
const SHORTEST_MS = 30_000;

type Sample = { readonly at: number; readonly usedBytes: number };

/** How fast Redis' memory grows, from the looks of this process at it. */
export function createMemoryTrend() {
  let samples: Sample[] = [];
  /** Bytes a second; undefined until it has looked for a while. @param at epoch ms */
  return function noteMemory(at: number, usedBytes: number): number | undefined {
    samples = samples.filter((sample) => sample.at > at - SPAN_MS);
    const [first] = samples;
    const last = samples.at(-1);
    if (!last || at - last.at >= APART_MS) samples.push({ at, usedBytes });
    if (!first || at - first.at < SHORTEST_MS) return undefined;
    return ((usedBytes - first.usedBytes) / (at - first.at)) * 1_000;
  };
}
