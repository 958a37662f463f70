import { z } from 'zod';
import { createQueueKeys } from '../queue-keys.ts';
import type { QueueAccess } from '../script.ts';
import { READ_QUEUE_STATE_LUA } from './queue-state-script.ts';

/** The obstacle of a group's waiting jobs: only workers and slots, its breaker, or a pause that it asked for. */
export const GROUP_HEALTHS = ['flowing', 'breaker_open', 'paused'] as const;
export type GroupHealth = (typeof GROUP_HEALTHS)[number];

/**
 * How much waits in a queue. Times are epoch ms. A script looks at some 400 groups, those that are served soonest. Each
 * further group that is ready counts as one waiting job, and the rest of the further groups' jobs as delayed.
 */
export type QueueState = {
  /** Jobs that are due and wait only for a worker or a slot; until recovery also those of a dead worker. */
  readonly waiting: number;
  readonly active: number;
  /** Jobs that are not due, or whose group is paused or has an open breaker. */
  readonly delayed: number;
  /**
   * Since when the first job that waits only for a worker has done so; absent: none waits. A job that waits for a slot
   * of its group doesn't count. A background job waits since its group's last turn.
   */
  readonly oldestDueAt?: number;
  readonly isPaused: boolean;
  /** Groups with waiting jobs. */
  readonly groups: number;
  /** Groups with waiting jobs that are missing in `byHealth`, because there are too many to look at each. */
  readonly groupsNotLookedAt: number;
  /** Groups with waiting jobs, without express groups. */
  readonly byHealth: Readonly<Record<GroupHealth, GroupsState>>;
};

export type GroupsState = {
  readonly groups: number;
  /** Their waiting jobs that are due. */
  readonly due: number;
  /** When the oldest of the groups' first jobs was due; absent: none is due. */
  readonly oldestDueAt?: number;
};

const Triple = z.tuple([z.number(), z.number(), z.number()]);
const Reply = z.tuple([z.number(), Triple, Triple, Triple, Triple, Triple, Triple]);

/** Reads the state of a queue with one script that only reads and whose work is bounded. */
export function createQueueStateReader({ prefix, defineScript, now }: QueueAccess): () => Promise<QueueState> {
  const { settings, leases } = createQueueKeys(prefix);
  const read = defineScript('queueState', READ_QUEUE_STATE_LUA);
  return async () => {
    const reply = Reply.parse(await read([settings, leases], [prefix, now()]));
    const [isPaused, [all, mayGo, mayGoSince], [active, ended, firstLeaseEnd], counts, flowing, open, paused] = reply;
    const [groups, groupsNotLookedAt, readyLeft] = counts;
    const ready = mayGo + readyLeft;
    const oldest = [mayGoSince, ended > 0 ? firstLeaseEnd : 0].filter((time) => time > 0);
    return {
      waiting: ready + ended,
      active,
      delayed: Math.max(0, all - ready),
      ...(oldest.length > 0 && { oldestDueAt: Math.min(...oldest) }),
      isPaused: isPaused === 1,
      groups,
      groupsNotLookedAt,
      byHealth: {
        flowing: toGroupsState(flowing),
        breaker_open: toGroupsState(open),
        paused: toGroupsState(paused),
      },
    };
  };
}

function toGroupsState([groups, due, oldestDueAt]: z.infer<typeof Triple>): GroupsState {
  return { groups, due, ...(oldestDueAt > 0 && { oldestDueAt }) };
}
