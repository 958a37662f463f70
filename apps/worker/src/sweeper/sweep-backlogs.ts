import type { BacklogStore } from '@herald/infra';

export type SweepBacklogsDeps = {
  readonly backlog: Pick<BacklogStore, 'claim'>;
  readonly poke: (destination: string) => void;
  /** Others look at a backlog that was claimed only after so long, in ms. */
  readonly unservedAfterMs: number;
  readonly now: () => number;
};

const BATCH = 500;

/**
 * Restarts backlogs that nobody serves: their worker died, their breaker's probe or their hold is due, or there was no
 * room when they came.
 * @returns backlogs looked at
 */
export async function sweepBacklogs({ backlog, poke, unservedAfterMs, now }: SweepBacklogsDeps): Promise<number> {
  const at = now();
  const destinations = await backlog.claim(at, at + unservedAfterMs, BATCH);
  for (const destination of destinations) poke(destination);
  return destinations.length;
}
