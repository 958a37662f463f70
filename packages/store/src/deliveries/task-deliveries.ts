import {
  deliveryIdOf,
  type HistoryReader,
  type ListPlace,
  type PastSequence,
  type TaskId,
  type TransitionId,
  transitionIdOfFact,
  type WorkspaceId,
  whileAvailable,
} from '@herald/core';
import { readFactValue, type Keyspace, type ShardKeys } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { DeliveryReader } from './delivery-reader.ts';
import { isAfter } from '../logs/log-reader.ts';
import type { ListEntry } from './read-part.ts';

/** A fact of a Task that emitted. Its place in the Task is its sequence. */
type EmittedFact = { readonly key: string; readonly sequence: number };

/** The facts of a Task that emitted, newest first: those before this sequence. */
export async function readEmittedFacts(redis: RedisClient, keys: ShardKeys, taskId: TaskId, beforeSequence = Infinity) {
  return Object.entries(await redis.hgetall(keys.facts(taskId)))
    .map(([key, value]): EmittedFact => ({ key, sequence: readFactValue(value).sequence }))
    .filter(({ sequence }) => sequence > 0 && sequence < beforeSequence)
    .sort((a, b) => b.sequence - a.sequence);
}

export type TaskDeliveriesDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly reader: DeliveryReader;
  readonly history?: HistoryReader | undefined;
};

/** `isPartial`: history couldn't be read, and may have more of them. */
export type TaskEntries = { readonly entries: readonly ListEntry[]; readonly isPartial: boolean };

/** The deliveries of Tasks. The place of each is the sequence of its transition, and its id. */
export function createTaskDeliveries({ redis, keyspace, reader, history }: TaskDeliveriesDeps) {
  /** What Redis has of a transition, in the order in which its endpoints were chosen. */
  const readPresent = async (workspaceId: WorkspaceId, { transitionId, sequence }: PastSequence) => {
    const endpoints = await redis.hget(keyspace.of(workspaceId).transition(transitionId), 'eps');
    const ids = endpoints ? endpoints.split(',').map((endpointId) => deliveryIdOf(transitionId, endpointId)) : [];
    const found = await Promise.all(ids.map((id) => reader.read(workspaceId, id)));
    const entries = found.flatMap((present): ListEntry[] =>
      present ? [{ at: sequence, id: present.delivery.id, ...present }] : [],
    );
    return { entries, isWhole: ids.length > 0 && entries.length === ids.length };
  };

  return {
    /**
     * The transitions of a Task before this sequence, newest first; at most `limit` of them when only history knows the
     * Task. Undefined: the workspace has no such Task.
     */
    async listTransitions(
      workspaceId: WorkspaceId,
      taskId: TaskId,
      limit: number,
      before?: number,
    ): Promise<PastSequence[] | undefined> {
      const keys = keyspace.of(workspaceId);
      if ((await redis.hget(keys.task(taskId), 'ws')) === workspaceId) {
        const facts = await readEmittedFacts(redis, keys, taskId, before);
        return facts.flatMap(({ key, sequence }) => {
          const transitionId = transitionIdOfFact(taskId, key);
          return transitionId === undefined ? [] : [{ sequence, transitionId }];
        });
      }
      if (!history) return undefined;
      const found = await history.listSequences(workspaceId, taskId, limit, before);
      if (found.length > 0) return [...found];
      const isKnown = before !== undefined && (await history.listSequences(workspaceId, taskId, 1)).length > 0;
      return isKnown ? [] : undefined;
    },
    /** The deliveries of these transitions, in their order. */
    async read(workspaceId: WorkspaceId, taskId: TaskId, transitions: readonly PastSequence[]): Promise<TaskEntries> {
      const present = await Promise.all(transitions.map((each) => readPresent(workspaceId, each)));
      const parts = new Map<TransitionId, ListEntry[]>(
        transitions.map(({ transitionId }, index) => [transitionId, present[index]?.entries ?? []]),
      );
      const toEntries = (isPartial: boolean) => ({ entries: [...parts.values()].flat(), isPartial });
      const split = transitions.filter((_, index) => !present[index]?.isWhole);
      if (!history || split.length === 0) return toEntries(false);
      // Redis was read first: what has left it since then is in history.
      const ids = split.map(({ transitionId }) => transitionId);
      const hasSome = [...parts.values()].some(({ length }) => length > 0);
      const past = await whileAvailable(history.listOfTransitions(workspaceId, taskId, ids), hasSome);
      const sequences = new Map(split.map(({ transitionId, sequence }) => [transitionId, sequence]));
      for (const each of past ?? []) {
        const { id, transitionId } = each.delivery;
        const part = parts.get(transitionId);
        if (!part || part.some((entry) => entry.id === id)) continue;
        part.push({ at: sequences.get(transitionId) ?? 0, id, delivery: each.delivery, past: each });
      }
      return toEntries(past === undefined);
    },
  };
}
export type TaskDeliveries = ReturnType<typeof createTaskDeliveries>;

/**
 * Reads a Task's deliveries, newest transition first and then by id, from a place on.
 * @param transitions newest first, without those in front of the place
 */
export function createTaskReader(
  tasks: Pick<TaskDeliveries, 'read'>,
  workspaceId: WorkspaceId,
  taskId: TaskId,
  transitions: readonly PastSequence[],
  after?: ListPlace,
) {
  const left = [...transitions];
  const unread: ListEntry[] = [];
  let isPartial = false;
  return {
    /** Whether history couldn't be read in between. */
    isPartial: () => isPartial,
    /** The next entries; fewer than `count` are the last ones. */
    async next(count: number): Promise<ListEntry[]> {
      while (unread.length < count && left.length > 0) {
        const some = await tasks.read(workspaceId, taskId, left.splice(0, count));
        isPartial ||= some.isPartial;
        const entries = some.entries.filter((entry) => !after || isAfter(entry, after));
        unread.push(...entries.sort((a, b) => (isAfter(a, b) ? 1 : -1)));
      }
      return unread.splice(0, count);
    },
  };
}
