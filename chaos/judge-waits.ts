import type { GroupSeen } from './look-at-queue.ts';

/** Longest wait of a sendable delivery while a worker lives, in ms. */
export const LONGEST_WAIT_MS = 5_000;
/** Looks that are further apart prove nothing: this machine or Redis stood still; in ms. */
const LONGEST_GAP_MS = 2_000;
/** Concurrent sends of a worker in each shard to quick, suspect and slow groups. */
const QUICK_SLOTS = 100;
const SUSPECT_SLOTS = 50;
const SLOW_SLOTS = 1_000;

export type WaitJudge = {
  /**
   * @param at time of the look, by `performance.now`
   * @param ableSince since when some worker has been able to work, by the same clock; undefined: none is able
   */
  readonly look: (at: number, ableSince: number | undefined, shards: readonly (readonly GroupSeen[])[]) => void;
  /** The look failed. */
  readonly skip: () => void;
  readonly violations: readonly string[];
  /** Looks while a worker lived: only these prove something. */
  readonly looks: number;
  /** Longest observed wait, in ms. */
  readonly longestMs: number;
};

/**
 * Finds deliveries that wait without a reason: the first one of a group with a free slot, while a live worker has free
 * slots too. To wait behind others of the group, or for their answers, is a reason.
 */
export function createWaitJudge(): WaitJudge {
  let waits = new Map<string, { readonly since: number; readonly isTold: boolean }>();
  let lastAt = -Infinity;
  let [longestMs, looks] = [0, 0];
  const violations: string[] = [];
  return {
    violations,
    get looks() {
      return looks;
    },
    get longestMs() {
      return longestMs;
    },
    skip() {
      waits = new Map();
    },
    look(at, ableSince, shards) {
      const before = at - lastAt > LONGEST_GAP_MS ? new Map<string, never>() : waits;
      lastAt = at;
      waits = new Map();
      if (ableSince === undefined) return;
      looks++;
      for (const groups of shards) {
        for (const { name, head, inWork, limit, known } of groups.filter((group) => hasRoom(group, groups))) {
          if (!head || inWork >= limit) continue;
          const key = `${head.id} of ${name}`;
          const { since, isTold } = before.get(key) ?? { since: at, isTold: false };
          const waitedMs = at - Math.max(since, ableSince);
          longestMs = Math.max(longestMs, waitedMs);
          const isLate = waitedMs > LONGEST_WAIT_MS;
          if (isLate && !isTold)
            violations.push(
              `${key} waited ${Math.round(waitedMs)} ms, although it might go and a worker lived: ${known}`,
            );
          waits.set(key, { since, isTold: isTold || isLate });
        }
      }
    },
  };
}

/** Whether a single worker would have a slot for it. */
function hasRoom({ isSuspect, isSlow }: GroupSeen, groups: readonly GroupSeen[]): boolean {
  const alike = groups.filter((group) => group.isSuspect === isSuspect && group.isSlow === isSlow);
  const taken = alike.reduce((sum, { inWork }) => sum + inWork, 0);
  return taken < (isSuspect ? SUSPECT_SLOTS : isSlow ? SLOW_SLOTS : QUICK_SLOTS);
}
