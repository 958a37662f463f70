import {
  callbackIdOf,
  deliveryIdOf,
  isTerminal,
  type DeliveryId,
  type DestinationId,
  type EndpointId,
  type TaskEventName,
  type TaskChange,
  type TaskId,
  type TaskState,
  type TransitionId,
  type WorkspaceId,
} from '@herald/core';
import { z } from 'zod';
import { liveScore } from '../deliveries/backlog-scripts.ts';
import type { DeliveryRetention } from '../deliveries/delivery-retention.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace } from '../redis/keys.ts';
import { defineScript } from '../redis/script.ts';
import { changeFields, DECIDING_FIELDS, readTask, type LastCheckpoint, type TaskRecord } from '../tasks/task-record.ts';
import { createLookUpKeeper } from '../tasks/look-up-keeper.ts';
import { taskTtlMs, type TaskRetention } from '../tasks/task-retention.ts';
import { ACCEPT_TRANSITION_LUA } from './accept-transition-script.ts';

/** Checkpoints and actions that one Task may know: each is remembered as long as the Task, to be known when it comes again. */
export const FACT_LIMIT = 10_000;
/** How long after acceptance a sweeper takes the adding of the jobs for crashed, in ms. */
const OWED_GRACE_MS = 5_000;
/** How long after acceptance a sweeper first looks whether pending deliveries are still somewhere, in ms. */
export const FIRST_AUDIT_MS = 60_000;

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
  | {
      readonly kind: 'accepted';
      /** Deliveries that need a job. */
      readonly toLineUp: readonly DeliveryId[];
      /** Deliveries that wait for their destination already, and need none. */
      readonly inBacklog: ReadonlySet<DeliveryId>;
      /** How many were canceled at once, because their endpoint is disabled. */
      readonly canceled: number;
    };

export type TransitionStore = {
  /** The Task without its input, and which of the facts it knows. */
  readonly findTask: (
    workspaceId: WorkspaceId,
    id: TaskId,
    factKeys: readonly string[],
  ) => Promise<{ readonly task: TaskRecord; readonly knownFacts: ReadonlySet<string> } | undefined>;
  readonly commit: (commit: TransitionCommit) => Promise<CommitReply>;
};

const CommitReplyText = z.union([
  z.tuple([z.enum(['conflict', 'full'])]),
  z.tuple([z.literal('accepted'), z.number()], z.string()),
]);

export type TransitionStoreDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly taskRetention: TaskRetention;
  readonly deliveryRetention: DeliveryRetention;
};

/** The mark "jobs owed" that a commit at `acceptedAt` (epoch ms) sets. */
export function owedMarkOf(acceptedAt: number): number {
  return acceptedAt + OWED_GRACE_MS;
}

export function createTransitionStore(deps: TransitionStoreDeps): TransitionStore {
  const { redis, keyspace, taskRetention, deliveryRetention } = deps;
  const accept = defineScript(redis, 'acceptTransition', ACCEPT_TRANSITION_LUA);
  const lookUps = createLookUpKeeper(redis);

  return {
    async findTask(workspaceId, id, factKeys) {
      const keys = keyspace.of(workspaceId);
      const [values, sequences] = await Promise.all([
        redis.hmget(keys.task(id), ...DECIDING_FIELDS),
        factKeys.length > 0 ? redis.hmget(keys.facts(id), ...factKeys) : [],
      ]);
      const task = readTask(id, toFields(values));
      if (task?.workspaceId !== workspaceId) return undefined;
      return { task, knownFacts: new Set(factKeys.filter((_, index) => sequences[index] != null)) };
    },
    async commit({ task, newRevision, subscriptionVersion, now, change, factKey, emission }) {
      const keys = keyspace.of(task.workspaceId);
      const status = change.status ?? task.status;
      const taskTtl = taskTtlMs(status, taskRetention);
      const deliveries = (emission?.targets ?? []).map(({ endpointId, destination, enabled }) => ({
        id: deliveryIdOf(emission?.transitionId ?? '', endpointId),
        ...{ endpointId, destination, enabled },
      }));
      const input = {
        prefix: keys.prefix,
        revision: task.revision,
        newRevision,
        subscriptions: subscriptionVersion,
        now: String(now),
        taskId: task.id,
        sequence: emission ? String(change.sequence ?? task.sequence) : '0',
        taskTtl: String(taskTtl),
        callbackTtl: String(taskTtl + deliveryRetention.logMs),
        recordTtl: String(deliveryRetention.recordMs),
        logTtl: String(deliveryRetention.logMs),
        owedAt: String(owedMarkOf(now)),
        auditAt: String(now + FIRST_AUDIT_MS),
        backlogScore: String(liveScore(now)),
        change: changeFields(change),
        ...(factKey !== undefined && { fact: factKey }),
        ...(factKey !== undefined && !isTerminal(status) && { factLimit: String(FACT_LIMIT) }),
        ...(emission &&
          emission.targets.length > 0 && {
            transition: {
              id: emission.transitionId,
              callback: callbackIdOf(task.id),
              fields: [
                ...['ev', emission.event, 'ws', task.workspaceId, 'task', task.id, 'at', String(now)],
                ...(emission.requestId === undefined ? [] : ['req', emission.requestId]),
                ...['eps', emission.targets.map(({ endpointId }) => endpointId).join(',')],
                ...(emission.traceparent === undefined ? [] : ['trace', emission.traceparent]),
              ],
              deliveries: deliveries.map(({ id, endpointId, destination, enabled }) => [
                ...[id, endpointId, enabled ? 'pending' : 'canceled', destination],
              ]),
            },
          }),
      };
      const callbackKey = keys.endpoint(callbackIdOf(task.id));
      const [reply] = await Promise.all([
        accept(
          [
            ...[keys.task(task.id), keys.facts(task.id), keys.subscriptionVersion(task.workspaceId)],
            ...[keys.tasksIn(task.status), keys.tasksIn(status), keys.owed, keys.open, callbackKey],
          ],
          [JSON.stringify(input), emission?.body ?? ''],
        ),
        lookUps.extend(task.id, taskTtl),
      ]);
      const [kind, canceled, ...waiting] = CommitReplyText.parse(reply);
      if (kind !== 'accepted') return { kind };
      const inBacklog = new Set(waiting);
      const toLineUp = deliveries.filter(({ id, enabled }) => enabled && !inBacklog.has(id)).map(({ id }) => id);
      return { kind, canceled, toLineUp, inBacklog };
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
