import {
  callbackIdOf,
  deliveryIdOf,
  isTerminal,
  type DestinationId,
  type EndpointId,
  type TaskEventName,
  type TaskChange,
  type TaskId,
  type TaskState,
  type TransitionId,
  type WorkspaceId,
} from '@herald/core';
import { scoreOf } from '@herald/queue';
import { z } from 'zod';
import type { DeliveryRetention } from '../deliveries/delivery-retention.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace } from '../keyspace/keys.ts';
import { batchCalls } from '../scripts/batch-calls.ts';
import { defineScript, ScriptCommandError } from '../scripts/script.ts';
import { changeFields, DECIDING_FIELDS, readTask, type LastCheckpoint, type TaskRecord } from '../tasks/task-record.ts';
import { createLookUpRefresher } from '../tasks/look-up-refresher.ts';
import { taskTtlMs, type TaskRetention } from '../tasks/task-retention.ts';
import { ACCEPT_TRANSITIONS_LUA } from './accept-transitions-script.ts';

/** Checkpoints and actions that one Task may know: each is remembered as long as the Task, to be known when it comes again. */
export const FACT_LIMIT = 10_000;

/** Endpoints that a transition goes to. A disabled one gets a record that says so, and a replay can bring it back. */
export type Target = {
  readonly endpointId: EndpointId;
  readonly destination: DestinationId;
  readonly enabled: boolean;
};

/** What an emitting transition leaves for its receivers. */
export type Emission = {
  readonly transitionId: TransitionId;
  readonly event: TaskEventName;
  readonly body: string;
  /** Of the request that reported it, so that the log can be followed from there to the attempts. */
  readonly requestId?: string;
  /** The trace that it belongs to (W3C Trace Context); each attempt continues it. */
  readonly traceparent?: string;
  readonly targets: readonly Target[];
};

export type TransitionCommit = {
  /** The Task as it was when this was decided. */
  readonly task: TaskState;
  /** The Task's revision from then on. */
  readonly newRevision: string;
  /** Version of the workspace's subscriptions from which the targets were chosen. */
  readonly subscriptionVersion: string;
  /** Epoch ms. */
  readonly now: number;
  readonly change: Partial<TaskChange> & { readonly checkpoint?: LastCheckpoint };
  /** Absent when nothing new was learned but the fields of `change`. */
  readonly factKey?: string;
  readonly emission?: Emission;
};

export type CommitReply =
  | { readonly kind: 'conflict' }
  /** The Task knows as many facts as it may, and this one doesn't end it. */
  | { readonly kind: 'full' }
  /** `canceled`: deliveries that were canceled at once, because their endpoint is disabled. */
  | { readonly kind: 'accepted'; readonly canceled: number };

export type TransitionStore = {
  /** The Task without its input, and which of the facts it knows. */
  readonly findTask: (
    workspaceId: WorkspaceId,
    id: TaskId,
    factKeys: readonly string[],
  ) => Promise<{ readonly task: TaskRecord; readonly knownFacts: ReadonlySet<string> } | undefined>;
  /**
   * Those of one moment go to Redis together, whoever asks for them: in their order, and each by itself.
   * Accepted is durable, and its deliveries are in the queue.
   */
  readonly commit: (commit: TransitionCommit) => Promise<CommitReply>;
};

const CommitReplies = z.array(z.tuple([z.enum(['accepted', 'conflict', 'full', 'failed'])], z.unknown()));
/** Roughly how much longer than a delivery a transition takes Redis. */
const TRANSITION_WEIGHT = 4;
/** What one call of the script may weigh, in deliveries: Redis does nothing else meanwhile, which is about 2 ms. */
const CALL_WEIGHT = 200;
const TASKS_READ_TOGETHER = 100;

/** What is read of a Task before a transition is decided. */
type TaskKeys = { readonly task: string; readonly facts: string; readonly factKeys: readonly string[] };

/** One commit as the script takes it. */
type CommitInput = { readonly input: object; readonly body: string; readonly deliveries: number };

function weightOf({ deliveries }: CommitInput): number {
  return TRANSITION_WEIGHT + deliveries;
}

export type TransitionStoreDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly taskRetention: TaskRetention;
  readonly deliveryRetention: DeliveryRetention;
  readonly now: () => number;
};

export function createTransitionStore(deps: TransitionStoreDeps): TransitionStore {
  const { redis, keyspace, taskRetention, deliveryRetention, now: clock } = deps;
  const accept = defineScript(redis, 'acceptTransitions', ACCEPT_TRANSITIONS_LUA);
  const lookUps = createLookUpRefresher(redis);
  const readFields = batchCalls({
    call: (tasks: readonly TaskKeys[]) =>
      Promise.all(
        tasks.map(({ task, facts, factKeys }) =>
          Promise.all([
            redis.hmget(task, ...DECIDING_FIELDS),
            factKeys.length > 0 ? redis.hmget(facts, ...factKeys) : [],
          ]),
        ),
      ),
    limit: TASKS_READ_TOGETHER,
  });
  const commitIn = new Map(
    keyspace.shards.map((keys) => {
      const common = {
        prefix: keys.prefix,
        recordTtl: String(deliveryRetention.recordMs),
        logTtl: String(deliveryRetention.logMs),
      };
      const call = async (inputs: readonly CommitInput[]) => {
        const at = clock();
        const shared = JSON.stringify({ ...common, now: String(at), score: String(scoreOf('usual', at)) });
        const args = inputs.flatMap(({ input, body }) => [JSON.stringify(input), body]);
        return CommitReplies.parse(await accept([keys.queue.leases], [shared, ...args]));
      };
      return [keys, batchCalls({ call, weightOf, limit: CALL_WEIGHT })];
    }),
  );

  return {
    async findTask(workspaceId, id, factKeys) {
      const keys = keyspace.of(workspaceId);
      const [values, sequences] = await readFields({ task: keys.task(id), facts: keys.facts(id), factKeys });
      const task = readTask(id, toFields(values));
      if (task?.workspaceId !== workspaceId) return undefined;
      return { task, knownFacts: new Set(factKeys.filter((_, index) => sequences[index] != null)) };
    },
    async commit({ task, newRevision, subscriptionVersion, now, change, factKey, emission }) {
      const keys = keyspace.of(task.workspaceId);
      const status = change.status ?? task.status;
      const taskTtl = taskTtlMs(status, taskRetention);
      const callback = callbackIdOf(task.id);
      const input = {
        task: task.id,
        workspace: task.workspaceId,
        revision: task.revision,
        newRevision,
        subscriptions: subscriptionVersion,
        now: String(now),
        from: task.status,
        to: status,
        sequence: emission ? String(change.sequence ?? task.sequence) : '0',
        taskTtl: String(taskTtl),
        callback,
        callbackTtl: String(taskTtl + deliveryRetention.logMs),
        change: changeFields(change),
        ...(factKey !== undefined && { fact: factKey }),
        ...(factKey !== undefined && !isTerminal(status) && { factLimit: String(FACT_LIMIT) }),
        ...(emission &&
          emission.targets.length > 0 && {
            transition: {
              id: emission.transitionId,
              event: emission.event,
              fields: [
                ...['ev', emission.event, 'ws', task.workspaceId, 'task', task.id, 'at', String(now)],
                ...(emission.requestId === undefined ? [] : ['req', emission.requestId]),
                ...['eps', emission.targets.map(({ endpointId }) => endpointId).join(',')],
                ...(emission.traceparent === undefined ? [] : ['trace', emission.traceparent]),
              ],
              deliveries: emission.targets.map(({ endpointId, destination, enabled }) => [
                ...[deliveryIdOf(emission.transitionId, endpointId), endpointId],
                ...[enabled ? 'pending' : 'canceled', destination],
              ]),
            },
          }),
      };
      const commit = commitIn.get(keys);
      if (!commit) throw new Error('every workspace has its shard');
      const [[kind, detail]] = await Promise.all([
        commit({ input, body: emission?.body ?? '', deliveries: emission?.targets.length ?? 0 }),
        lookUps.extend(task.id, taskTtl),
      ]);
      if (kind === 'failed') throw new ScriptCommandError(String(detail));
      return kind === 'accepted' ? { kind, canceled: Number(detail) } : { kind };
    },
  };
}

function toFields(values: readonly (string | null)[]): Record<string, string> {
  const fields: Record<string, string> = {};
  DECIDING_FIELDS.forEach((name, index) => {
    const value = values[index];
    if (value != null) fields[name] = value;
  });
  return fields;
}
