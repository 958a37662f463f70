import type { GroupHealth } from '@herald/queue';
import { createFailedView, createGroupView, type GroupDescription } from '@herald/store/operators/describe-delivery';
import {
  createServiceStateReader,
  type ServiceState,
  createWorkerPresence,
} from '@herald/store/operators/create-service-state-reader';
import { toDate } from '../context/create-output.ts';
import type { Herald } from '../context/open-herald.ts';

/** All pending work, for programs. Spans are in ms. */
export async function readQueues({ config, redis, keyspace, now }: Herald) {
  const readState = createServiceStateReader({ redis, keyspace, presence: createWorkerPresence(redis), now });
  const groups = createGroupView({ redis, keyspace, now });
  const at = now();
  const [state, waiting, failedLately] = await Promise.all([
    readState(),
    groups.list(),
    createFailedView({ redis, keyspace, keepMs: config.retentionMs }).count(at),
  ]);
  return {
    workers: state.workers,
    acceptedPerSecond: state.rates.acceptedPerSecond,
    deliveredPerSecond: state.rates.deliveredPerSecond,
    emptyInMs: state.emptyInMs ?? null,
    queues: state.shards.map(({ queue: { waiting, active, delayed, oldestDueAt = state.at, isPaused } }, shard) => ({
      shard,
      queue: 'deliveries',
      waiting,
      active,
      delayed,
      oldestDueMs: Math.max(0, state.at - oldestDueAt),
      isPaused,
    })),
    receivers: waiting.map((group) => toReceiverJson(group, at)),
    receiverCount: countGroups(state),
    runningReplays: state.shards.reduce((total, { runningReplays }) => total + runningReplays, 0),
    failedLately,
  };
}
export type Queues = Awaited<ReturnType<typeof readQueues>>;
export type QueueLine = Queues['queues'][number];

/** What waits for a receiver, or for the callbacks of a workspace to one origin. */
export type ReceiverLine = {
  readonly receiver: string | null;
  readonly kind: GroupDescription['kind'];
  readonly workspace: string | null;
  readonly host: string | null;
  readonly deliveries: number;
  readonly due: number;
  readonly inWork: number;
  /** Attempts, in the last minute or two; null: nothing counts them. */
  readonly sentPerSecond: number | null;
  /** When what is due will be sent at this rate, if no more comes; null: nothing goes, or nothing counts it. */
  readonly emptyInMs: number | null;
  readonly state: GroupHealth;
  readonly unanswered: number;
  readonly nextProbeAt: Date | null;
  readonly pausedUntil: Date | null;
  readonly waitsSince: Date | null;
  readonly nextDueAt: Date | null;
};

/** Groups with waiting deliveries, those that were not looked at included. */
function countGroups({ shards }: ServiceState): number {
  const counts = shards.flatMap(({ queue: { byHealth, groupsNotLookedAt } }) => [
    groupsNotLookedAt,
    ...Object.values(byHealth).map(({ groups }) => groups),
  ]);
  return counts.reduce((total, count) => total + count, 0);
}

function toReceiverJson(found: GroupDescription, now: number): ReceiverLine {
  const { first, delivery, waiting, due, inWork, isOpen, unanswered, nextProbeAt, heldUntil } = found;
  const { group, kind, isStopped, sentPerSecond = null, emptyInMs = null } = found;
  const firstDueAt = first?.dueAt ?? 0;
  return {
    receiver: kind === 'receiver' ? group : null,
    kind,
    workspace: delivery?.delivery.workspaceId ?? null,
    host: delivery?.host ?? null,
    deliveries: waiting,
    due,
    inWork,
    sentPerSecond,
    emptyInMs,
    state: isStopped ? 'stopped' : isOpen ? 'breaker_open' : heldUntil === undefined ? 'flowing' : 'paused',
    unanswered,
    nextProbeAt: toDate(nextProbeAt) ?? null,
    pausedUntil: toDate(heldUntil) ?? null,
    waitsSince: firstDueAt <= now ? new Date(firstDueAt) : null,
    nextDueAt: firstDueAt > now ? new Date(firstDueAt) : null,
  };
}
