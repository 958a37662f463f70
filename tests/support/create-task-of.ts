import {
  deliveryIdOf,
  orderingTimeoutOf,
  renderWebhookBody,
  transitionIdOfFact,
  type DeliveryId,
  type Endpoint,
  type WorkspaceId,
} from '@herald/core';
import { newRevision } from '@herald/store/redis/random-token';
import { buildTask, type Stores } from './start-stores.ts';

export type Target = Endpoint;
export type TaskOf = Awaited<ReturnType<typeof createTaskOf>>;

/**
 * A Task of a workspace, of which one check-in after the other is accepted.
 * @param setNow tells the time of an acceptance, epoch ms
 */
export async function createTaskOf(
  stores: Stores,
  workspaceId: WorkspaceId,
  setNow: (now: number) => void = () => undefined,
) {
  let task = buildTask(workspaceId);
  await stores.tasks.create(task);

  /** To these endpoints. Returns the ids of the deliveries, in their order. */
  const accept = async (targets: readonly Target[], now: number): Promise<DeliveryId[]> => {
    setNow(now);
    const sequence = task.sequence + 1;
    const checkpointId = `c${sequence}`;
    const factKey = `checkpoint:${checkpointId}`;
    const transitionId = transitionIdOfFact(task.id, factKey) ?? '';
    const { version } = await stores.receivers.findSubscriptions(workspaceId);
    const outcome = { summary: `step ${sequence}` };
    const report = { type: 'checkpoint', checkpointId, canonical: true, material: true, outcome } as const;
    const facts = { createdAt: now, sequence, taskId: task.id, status: task.status, report };
    const next = { ...task, sequence, revision: newRevision() };
    const reply = await stores.transitions.commit({
      task,
      newRevision: next.revision,
      subscriptionVersion: version,
      now,
      change: { sequence },
      factKey,
      emission: {
        transitionId,
        event: 'task.check_in',
        body: renderWebhookBody({ transitionId, event: 'task.check_in', actionUrl: () => '', ...facts }),
        targets: targets.map((endpoint) => {
          const orderingTimeoutMs = orderingTimeoutOf(endpoint);
          return {
            endpointId: endpoint.id,
            enabled: endpoint.enabled,
            ...(orderingTimeoutMs !== undefined && { orderingTimeoutMs }),
          };
        }),
      },
    });
    if (reply.kind !== 'accepted') throw new Error(`the acceptance came to ${reply.kind}`);
    task = next;
    return targets.map(({ id }) => deliveryIdOf(transitionId, id));
  };

  return {
    id: task.id,
    /** Of the last event. */
    sequence: () => task.sequence,
    accept,
    /** To one endpoint, so many of one moment. */
    async acceptMany(target: Target, count: number, now: number): Promise<DeliveryId[]> {
      const ids: DeliveryId[] = [];
      while (ids.length < count) ids.push(...(await accept([target], now)));
      return ids;
    },
  };
}
