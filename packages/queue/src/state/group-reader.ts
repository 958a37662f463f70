import { z } from 'zod';
import { groupOfLane } from '../groups/lane.ts';
import { createQueueKeys } from '../queue-keys.ts';
import { FIND_GROUP_LUA, LIST_GROUPS_LUA } from './group-scripts.ts';
import type { QueueAccess } from '../script.ts';

/** The state of one group. Times are epoch ms. */
export type GroupState = {
  readonly group: string;
  /** Its waiting jobs, due or not. */
  readonly waiting: number;
  /** Waiting jobs that are due, whatever keeps them waiting. */
  readonly due: number;
  readonly inWork: number;
  /** Its breaker is open: one probe at a time goes out, the next one at `nextProbeAt`. */
  readonly isOpen: boolean;
  /** Jobs without an answer, in a row. */
  readonly unanswered: number;
  readonly nextProbeAt?: number;
  /** Only urgent jobs go out before; absent once that has passed. */
  readonly heldUntil?: number;
  /** It is suspect at least until then; absent once that has passed. */
  readonly suspectUntil?: number;
  /** Due jobs of the lane by which it was found that wait for a token; absent when there are none. */
  readonly waitingForRate?: number;
  /** Jobs that may be in work, while that is fewer than configured. */
  readonly limit?: number;
  /** The waiting job that goes first. */
  readonly first?: { readonly id: string; readonly dueAt: number };
};

const Count = z.number();
const Row = z.tuple([
  z.string(),
  Count,
  Count,
  Count,
  Count,
  Count,
  Count,
  Count,
  Count,
  z.string(),
  Count,
  Count,
  Count,
]);

/** Reads the state of groups. Its scripts only read, and their work is bounded. */
export function createGroupReader({ prefix, defineScript, now }: QueueAccess) {
  const keys = createQueueKeys(prefix);
  const list = defineScript('queueListGroups', LIST_GROUPS_LUA);
  const find = defineScript('queueFindGroup', FIND_GROUP_LUA);
  return {
    /**
     * Groups with waiting jobs, those with the most first. Of very many it looks only at those that are served soonest.
     */
    async list(limit: number): Promise<readonly GroupState[]> {
      const at = now();
      const rows = z.array(Row).parse(await list([keys.later], [prefix, at, limit]));
      return rows.map((row) => toGroupState(row, at));
    },
    /** By its name, or by that of a lane. Undefined when no job waits in the group and nothing is known of it. */
    async find(group: string): Promise<GroupState | undefined> {
      const at = now();
      const row = z.union([Row, z.tuple([])]).parse(await find([keys.group(groupOfLane(group))], [prefix, at, group]));
      return row.length === 0 ? undefined : toGroupState(row, at);
    },
  };
}

function toGroupState(row: z.infer<typeof Row>, now: number): GroupState {
  const [group, waiting, due, inWork, isOpen, unanswered, nextProbeAt, heldUntil, suspectUntil, ...rest] = row;
  const [firstId, firstDueAt, waitingForRate, limit] = rest;
  return {
    group,
    waiting,
    due,
    inWork,
    isOpen: isOpen === 1,
    unanswered,
    ...(isOpen === 1 && { nextProbeAt }),
    ...(heldUntil > now && { heldUntil }),
    ...(suspectUntil > now && { suspectUntil }),
    ...(waitingForRate > 0 && { waitingForRate }),
    ...(limit > 0 && { limit }),
    ...(firstId !== '' && { first: { id: firstId, dueAt: firstDueAt } }),
  };
}
