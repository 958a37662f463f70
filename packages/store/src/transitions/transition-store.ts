import {
  callbackIdOf,
  deliveryIdOf,
  isTerminal,
  WorkspaceFullError,
  type DomainError,
  type EndpointId,
  type KnownFact,
  type TaskEventName,
  type TaskId,
  type TaskState,
  type TransitionId,
  type WorkspaceId,
} from '@herald/core';
import { z } from 'zod';
import { takeFields } from '../deliveries/delivery-record.ts';
import type { DeliveryRetention } from '../deliveries/delivery-retention.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { readFactValue, writeFactValue, type Keyspace } from '../keys/keys.ts';
import { COUNTED_TASK_FIELDS } from '../keyspace/account-lua.ts';
import type { RoomDeps } from '../stats/memory-guard.ts';
import { LimitName, NO_LIMITS } from '../stats/workspace-accounts.ts';
import { batchCalls } from '../redis/batch-calls.ts';
import { defineScript, ScriptCommandError } from '../redis/script.ts';
import {
  changeFields,
  createLookUpRefresher,
  DECIDING_FIELDS,
  readTask,
  taskTtlMs,
  type RecordChange,
  type TaskRetention,
} from '../tasks/task-record.ts';
import { ACCEPT_TRANSITIONS_LUA } from './accept-transitions-script.ts';
import { NOTE_DIFFERENCE_LUA } from './note-difference-script.ts';

/** Facts that a Task can know. It remembers each for as long as it lives, to recognize a repeated report. */
export const FACT_LIMIT = 10_000;

/** An endpoint that a transition goes to. A disabled one gets a canceled delivery, which a replay can send. */
export type Target = {
  readonly endpointId: EndpointId;
  readonly enabled: boolean;
  /** How long the delivery waits for those of the same Task before it, in ms; absent: it goes at once. */
  readonly orderingTimeoutMs?: number;
};

/** A transition that endpoints are told of. */
export type Emission = {
  readonly transitionId: TransitionId;
  readonly event: TaskEventName;
  readonly body: string;
  /** The request that reported it: by this id the log leads from the report to the attempts. */
  readonly requestId?: string;
  /** The trace that each attempt continues (W3C Trace Context). */
  readonly traceparent?: string;
  readonly targets: readonly Target[];
};

export type TransitionCommit = {
  /** The Task as it was when this was decided. */
  readonly task: TaskState;
  readonly newRevision: string;
  /** Version of the workspace's subscriptions that the targets were chosen from. */
  readonly subscriptionVersion: string;
  /** Epoch ms. */
  readonly now: number;
  readonly change: RecordChange;
  /** Absent when the report only fills in fields of `change`. */
  readonly factKey?: string;
  /** Of the report, kept with the fact. */
  readonly digest?: string;
  /** The Task may know the fact, as one that emitted nothing. */
  readonly isRaised?: true;
  readonly emission?: Emission;
};

export type CommitReply =
  | { readonly kind: 'conflict' }
  /** The Task knows as many facts as it can, and this one doesn't close it. */
  | { readonly kind: 'full' }
  /** The workspace holds as much as it may. */
  | { readonly kind: 'no_room'; readonly error: DomainError }
  /** `canceled`: deliveries that were canceled at once, because their endpoint is disabled. */
  | { readonly kind: 'accepted'; readonly canceled: number };

const CommitReplies = z.array(z.tuple([z.enum(['accepted', 'conflict', 'full', 'no_room', 'failed'])], z.unknown()));
const COUNTED: ReadonlySet<string> = new Set(COUNTED_TASK_FIELDS);
/** Roughly how much longer than a delivery a transition takes Redis. */
const TRANSITION_WEIGHT = 4;
/** The most that one call may weigh, in deliveries. It blocks Redis for about 2 ms. */
const CALL_WEIGHT = 200;
const TASKS_READ_TOGETHER = 100;

type TaskKeys = { readonly task: string; readonly facts: string; readonly factKeys: readonly string[] };
/** A commit as the script takes it, and the number of its deliveries. */
type CommitInput = { readonly input: object; readonly body: string; readonly deliveries: number };

export type TransitionStoreDeps = RoomDeps & {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly taskRetention: TaskRetention;
  readonly deliveryRetention: DeliveryRetention;
  readonly now: () => number;
};

export function createTransitionStore(deps: TransitionStoreDeps) {
  const { redis, keyspace, taskRetention, deliveryRetention, limits = NO_LIMITS, findRefusal, now: clock } = deps;
  const accept = defineScript(redis, ACCEPT_TRANSITIONS_LUA);
  const noteDifference = defineScript(redis, NOTE_DIFFERENCE_LUA);
  const extendLookUp = createLookUpRefresher(redis);
  const readOne = ({ task, facts, factKeys }: TaskKeys) =>
    Promise.all([redis.hmget(task, ...DECIDING_FIELDS), factKeys.length > 0 ? redis.hmget(facts, ...factKeys) : []]);
  const readFields = batchCalls({
    call: (tasks: readonly TaskKeys[]) => Promise.all(tasks.map(readOne)),
    limit: TASKS_READ_TOGETHER,
  });
  const commitIn = new Map(
    keyspace.shards.map((keys) => {
      const recordTtl = String(deliveryRetention.expiryMs);
      const logTtl = String(deliveryRetention.logMs);
      const call = async (inputs: readonly CommitInput[]) => {
        const at = clock();
        const common = { prefix: keys.prefix, recordTtl, logTtl, now: String(at), limits };
        const args = inputs.flatMap(({ input, body }) => [JSON.stringify(input), body]);
        return CommitReplies.parse(await accept([keys.queue.leases], [JSON.stringify(common), ...args]));
      };
      const weightOf = ({ deliveries }: CommitInput) => TRANSITION_WEIGHT + deliveries;
      return [keys, batchCalls({ call, weightOf, limit: CALL_WEIGHT })];
    }),
  );

  return {
    /** The Task without its input, and what it knows of these facts. */
    async findTask(workspaceId: WorkspaceId, id: TaskId, factKeys: readonly string[]) {
      const keys = keyspace.of(workspaceId);
      const [values, facts] = await readFields({ task: keys.task(id), facts: keys.facts(id), factKeys });
      const task = readTask(id, takeFields(DECIDING_FIELDS, values));
      if (task?.workspaceId !== workspaceId) return undefined;
      const knownFacts = new Map<string, KnownFact>();
      for (const [index, key] of factKeys.entries()) {
        const value = facts[index];
        if (value != null) knownFacts.set(key, readFactValue(value));
      }
      return { task, knownFacts };
    },
    /**
     * Accepted means: it is durable, and its deliveries are in the queue. Commits of one moment go to Redis together,
     * in their order, and each stands or fails alone.
     */
    async commit(asked: TransitionCommit): Promise<CommitReply> {
      const { task, now, change, factKey, digest, isRaised, emission } = asked;
      const refusal = findRefusal?.(task.workspaceId);
      if (refusal) return { kind: 'no_room', error: refusal };
      const status = change.status ?? task.status;
      const sequence = emission ? (change.sequence ?? task.sequence) : 0;
      const taskTtl = taskTtlMs(status, taskRetention);
      const fields = changeFields(change);
      const input = {
        task: task.id,
        workspace: task.workspaceId,
        revision: task.revision,
        newRevision: asked.newRevision,
        subscriptions: asked.subscriptionVersion,
        now: String(now),
        from: task.status,
        to: status,
        taskTtl: String(taskTtl),
        callback: callbackIdOf(task.id),
        callbackTtl: String(taskTtl + deliveryRetention.callbackMs),
        change: fields,
        ...sizeOf(fields),
        fact: factKey,
        factValue: writeFactValue({ sequence, ...(digest !== undefined && { digest }) }),
        isRaised,
        factLimit: factKey === undefined || isRaised || isTerminal(status) ? undefined : String(FACT_LIMIT),
        transition: emission && emission.targets.length > 0 ? toTransition(task, emission, sequence, now) : undefined,
      };
      const commit = commitIn.get(keyspace.of(task.workspaceId));
      if (!commit) throw new Error('every workspace has its shard');
      const [[kind, detail]] = await Promise.all([
        commit({ input, body: emission?.body ?? '', deliveries: emission?.targets.length ?? 0 }),
        extendLookUp(task.id, taskTtl),
      ]);
      if (kind === 'failed') throw new ScriptCommandError(String(detail));
      if (kind === 'no_room') {
        const of = LimitName.parse(detail);
        return { kind, error: new WorkspaceFullError(of, limits[of]) };
      }
      return kind === 'accepted' ? { kind, canceled: Number(detail) } : { kind };
    },
    /** Notes that a report was repeated with other contents. True the first time for this Task. */
    noteDifference: async (workspaceId: WorkspaceId, id: TaskId): Promise<boolean> =>
      (await noteDifference([keyspace.of(workspaceId).task(id)], [])) === 1,
  };
}
export type TransitionStore = ReturnType<typeof createTransitionStore>;

/** The fields whose content counts, and how many bytes it has. */
function sizeOf(fields: readonly string[]) {
  const sized = fields.filter((name, index) => index % 2 === 0 && COUNTED.has(name));
  const grown = sized.reduce((sum, name) => sum + Buffer.byteLength(fields[fields.indexOf(name) + 1] ?? ''), 0);
  return { sized, grown };
}

function toTransition(
  task: TaskState,
  { transitionId, event, requestId, traceparent, targets }: Emission,
  sequence: number,
  now: number,
) {
  const fields = ['ev', event, 'ws', task.workspaceId, 'task', task.id, 'at', String(now)];
  if (requestId !== undefined) fields.push('req', requestId);
  fields.push('eps', targets.map(({ endpointId }) => endpointId).join(','));
  if (traceparent !== undefined) fields.push('trace', traceparent);
  const deliveries = targets.map(({ endpointId, enabled, orderingTimeoutMs }) => [
    deliveryIdOf(transitionId, endpointId),
    endpointId,
    enabled ? 'pending' : 'canceled',
    ...(orderingTimeoutMs === undefined ? [] : [String(orderingTimeoutMs)]),
  ]);
  return { id: transitionId, event, sequence: String(sequence), fields, deliveries };
}
