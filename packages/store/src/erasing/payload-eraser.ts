import {
  deliveryIdOf,
  EventName,
  type HistoryReader,
  TASK_TRANSITIONS,
  type TaskId,
  type TransitionId,
  transitionIdOfFact,
  type WorkspaceId,
} from '@herald/core';
import { z } from 'zod';
import type { DeliveryRetention } from '../deliveries/delivery-retention.ts';
import { readEmittedFacts } from '../deliveries/task-deliveries.ts';
import type { Keyspace, ShardKeys } from '../keys/keys.ts';
import { newRevision } from '../redis/random-token.ts';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../redis/await-replication.ts';
import { ERASE_ATTEMPTS_LUA } from './erase-attempts-script.ts';
import { ERASE_TASK_LUA, MARK_ERASED_LUA, NOTE_ERASED_LUA } from './erase-task-script.ts';
import { ERASE_TRANSITION_LUA } from './erase-transition-script.ts';

/** Deliveries of one event that an erasure canceled. */
export type CanceledByErasure = { readonly event: EventName; readonly count: number };

/** `open`: the Task is not closed, and nothing was erased. `erasedAt`: when it was erased first, epoch ms. */
export type EraseReply =
  | { readonly kind: 'missing' }
  | { readonly kind: 'open'; readonly status: string }
  | { readonly kind: 'erased'; readonly erasedAt: number; readonly canceled: readonly CanceledByErasure[] };

/** What history has of Tasks, and its erasure. Each throws HistoryUnavailableError. */
export type ErasableHistory = Pick<HistoryReader, 'listSequences'> & {
  /**
   * Erases the bodies of a Task's transitions and what the endpoints answered, of those that are being moved too, and in
   * days that are being dropped. Returns when they were erased first, epoch ms; undefined when there is nothing.
   */
  eraseTask(workspaceId: WorkspaceId, taskId: TaskId, erasedAt: number): Promise<number | undefined>;
  /** Some of a workspace's Tasks of which it holds something that is not erased. */
  listUnerased(workspaceId: WorkspaceId, limit: number): Promise<readonly TaskId[]>;
};

/** What erases payloads in history. */
type ErasedHistory = Pick<ErasableHistory, 'listSequences' | 'eraseTask'>;

export type PayloadEraserDeps = ReplicatedStoreDeps & {
  readonly keyspace: Keyspace;
  readonly retention: DeliveryRetention;
  /** Absent: nothing leaves Redis but what is over. */
  readonly history?: ErasedHistory | undefined;
};

/** How long it is known that a transition which is gone from Redis was erased, in ms: longer than a restore may take. */
const PAST_MARK_MS = 3_600_000;
/** Transitions between two notes of the progress, all of which go to Redis together. */
const PAGE = 20;

const TaskReply = z.union([
  z.tuple([z.literal('missing')]),
  z.tuple([z.literal('open'), z.string()]),
  z.tuple([z.literal('erased'), z.coerce.number(), z.coerce.number()]),
]);
const TransitionReply = z.tuple([z.union([EventName, z.literal('')]), z.number()]);

/** Erases what closed Tasks held. What was delivered, when, and with which status stays. */
export function createPayloadEraser(deps: PayloadEraserDeps) {
  const { redis, keyspace, retention, history } = deps;
  // Each step must be replicated before the note: after a failover, the new master may lack any of them.
  const eraseTask = defineReplicatedScript(deps, ERASE_TASK_LUA);
  const eraseTransition = defineReplicatedScript(deps, ERASE_TRANSITION_LUA);
  const eraseAttempts = defineReplicatedScript(deps, ERASE_ATTEMPTS_LUA);
  const noteErased = defineReplicatedScript(deps, NOTE_ERASED_LUA);
  const markErased = defineReplicatedScript(deps, MARK_ERASED_LUA);

  /** The transition first: whoever records an attempt from then on leaves out the answer. */
  const erase = async (keys: ShardKeys, id: TransitionId, erasedAt: number, now: number) => {
    const endpoints = (await redis.hget(keys.transition(id), 'eps'))?.split(',') ?? [];
    const ids = endpoints.map((endpointId) => deliveryIdOf(id, endpointId));
    const [event, count] = TransitionReply.parse(
      await eraseTransition(
        [keys.transition(id), ...ids.map(keys.delivery)],
        [keys.prefix, now, retention.expiryMs, erasedAt, id, ...ids],
      ),
    );
    await Promise.all(ids.map((each) => eraseAttempts([keys.delivery(each), keys.attempts(each)], [])));
    return event === '' || count === 0 ? undefined : { event, count };
  };

  /** A Task that Redis has forgotten. Some of its deliveries may be in Redis all the same: those that came back. */
  const erasePast = async (workspaceId: WorkspaceId, taskId: TaskId, now: number): Promise<EraseReply> => {
    const keys = keyspace.of(workspaceId);
    if (!history) return { kind: 'missing' };
    const transitions = await history.listSequences(workspaceId, taskId, TASK_TRANSITIONS);
    const canceled: CanceledByErasure[] = [];
    for (let start = 0; start < transitions.length; start += PAGE) {
      const page = transitions.slice(start, start + PAGE);
      const ids = page.map(({ transitionId }) => transitionId);
      await Promise.all(ids.map((id) => markErased([keys.transition(id)], [workspaceId, now, PAST_MARK_MS])));
      const ended = await Promise.all(ids.map((id) => erase(keys, id, now, now)));
      canceled.push(...ended.filter((each) => each !== undefined));
    }
    // Also when nothing of it can be listed any more: days that are being dropped may still hold it.
    const erasedAt = await history.eraseTask(workspaceId, taskId, now);
    return erasedAt === undefined ? { kind: 'missing' } : { kind: 'erased', erasedAt, canceled };
  };

  return {
    /**
     * Erases the input, messages, decisions, result and outcome of a Task, the bodies of its transitions, and what the
     * endpoints answered, in Redis and then in history. Once this resolves, none of it is left. Every step can be made
     * again: after a crash, or when history was away, the next call goes on where it was.
     * @throws HistoryUnavailableError
     */
    async erase(workspaceId: WorkspaceId, taskId: TaskId, now: number): Promise<EraseReply> {
      const keys = keyspace.of(workspaceId);
      const task = [keys.task(taskId), keys.messages(taskId), keys.decisions(taskId)];
      const reply = TaskReply.parse(await eraseTask(task, [workspaceId, now, newRevision(), keys.prefix]));
      if (reply[0] === 'missing') return await erasePast(workspaceId, taskId, now);
      if (reply[0] === 'open') return { kind: 'open', status: reply[1] };
      const [, erasedAt, erasedTo] = reply;
      const emitted = await readEmittedFacts(redis, keys, taskId);
      const facts = emitted.filter(({ sequence }) => sequence > erasedTo).reverse();
      const canceled: CanceledByErasure[] = [];
      for (let start = 0; start === 0 || start < facts.length; start += PAGE) {
        const page = facts.slice(start, start + PAGE);
        const ids = page.map(({ key }) => transitionIdOfFact(taskId, key)).filter((id) => id !== undefined);
        const ended = await Promise.all(ids.map((id) => erase(keys, id, erasedAt, now)));
        canceled.push(...ended.filter((each) => each !== undefined));
        await noteErased([keys.task(taskId)], [page.at(-1)?.sequence ?? erasedTo]);
      }
      await history?.eraseTask(workspaceId, taskId, erasedAt);
      return { kind: 'erased', erasedAt, canceled };
    },
  };
}
export type PayloadEraser = ReturnType<typeof createPayloadEraser>;
