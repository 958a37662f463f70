import { HistoryUnavailableError } from '@herald/core';
import type { ReplaySteps } from '@herald/store/replays/replay-steps';

export type FeedReplaysDeps = {
  readonly replays: ReplaySteps;
  readonly reportReplayed: (deliveries: number) => void;
  readonly now: () => number;
};

const BATCH = 20;
/** When the next round of any worker may carry a replay on, in ms. */
const NEXT_ROUND_MS = 100;
/** Steps for one replay in one round, so that many replays go on side by side. */
const STEPS = 5;

/** A replay whose deliveries are in a history that is away waits for it, and holds up no other. */
function waitForHistory(error: unknown): { readonly kind: 'wait'; readonly replayed: number } {
  if (error instanceof HistoryUnavailableError) return { kind: 'wait', replayed: 0 };
  throw error;
}

/**
 * Carries replays on: each step sets some deliveries pending, as fast as those before them are sent, and no faster.
 * @returns steps made
 */
export async function feedReplays({ replays, reportReplayed, now }: FeedReplaysDeps): Promise<number> {
  let steps = 0;
  const at = now();
  for (const id of await replays.claim(at, at + NEXT_ROUND_MS, BATCH)) {
    for (let step = 0; step < STEPS; step++) {
      const { kind, replayed } = await replays.step(id, now()).catch(waitForHistory);
      if (replayed > 0) reportReplayed(replayed);
      if (kind !== 'stepped') break;
      steps++;
    }
  }
  return steps;
}
