import {
  callbackIdOf,
  type DisabledBy,
  type Endpoint,
  type EndpointDisabling,
  type EndpointOrdering,
  NotFoundError,
  type PatchCallback,
  type Task,
  type TaskId,
  type WorkspaceId,
} from '@herald/core';
import type { DeliveryMetrics } from '@herald/store/deliveries/create-delivery-metrics';
import type { CallbackStore } from '@herald/store/endpoints/callback-store';
import type { SealHeaders } from '@herald/store/secrets/secret-cipher';
import type { z } from 'zod';
import { type FindUrlProblem, refuseForbiddenUrl, withoutSame } from '../receivers/manage-receivers.ts';
import { ReceiverView, toDisablingView, toOrderingView } from '../receivers/receiver-view.ts';

type ManageCallbacksDeps = {
  readonly callbacks: CallbackStore;
  readonly sealHeaders: SealHeaders;
  readonly findUrlProblem: FindUrlProblem;
  readonly metrics: Pick<DeliveryMetrics, 'endpointDisabled'>;
  readonly now: () => number;
};

/** The operations on the callbacks of Tasks. */
export function createManageCallbacks(deps: ManageCallbacksDeps) {
  const { callbacks, sealHeaders, findUrlProblem, metrics, now } = deps;
  const find = async (workspaceId: WorkspaceId, taskId: TaskId) => {
    const callback = await callbacks.find(workspaceId, callbackIdOf(taskId));
    if (!callback) throw new NotFoundError('callback', `of Task ${taskId}`);
    return callback;
  };
  return {
    /** Undefined when the Task has no callback. */
    findOf: async ({ workspaceId, callback }: Task) => callback && (await callbacks.find(workspaceId, callback.id)),
    /** @throws ValidationError, NotFoundError or ReceiverLockedError */
    async patch(workspaceId: WorkspaceId, taskId: TaskId, { headers, ...patch }: PatchCallback, by: DisabledBy) {
      if (patch.url !== undefined) refuseForbiddenUrl(findUrlProblem, patch.url, 'url');
      const before = await find(workspaceId, taskId);
      const { id, enabled: wasEnabled } = before;
      const change = { ...withoutSame(patch, before), ...(headers && { headers: sealHeaders(headers, id) }) };
      if (!(await callbacks.patch(workspaceId, id, { ...change, by }, now())))
        throw new NotFoundError('callback', `of Task ${taskId}`);
      if (wasEnabled && patch.enabled === false) metrics.endpointDisabled('by_request');
      return await find(workspaceId, taskId);
    },
  };
}
export type ManageCallbacks = ReturnType<typeof createManageCallbacks>;

/** A Task's callback as its workspace sees it: never with its secret. */
export const CallbackView = ReceiverView.pick({
  url: true,
  events: true,
  enabled: true,
  ordering: true,
  orderingTimeoutSeconds: true,
  orderingTimeout: true,
  disabledAt: true,
  disabledReason: true,
  disabledBy: true,
  lockedReason: true,
  headerNames: true,
}).meta({
  id: 'Callback',
  description: 'The url to which the events of one Task are sent, besides the receivers.',
  examples: [
    {
      url: 'https://hooks.example.com/invoice-42',
      events: [],
      enabled: true,
      ordering: 'none',
      orderingTimeoutSeconds: 86_400,
      orderingTimeout: '24h',
    },
  ],
});
export type CallbackView = z.infer<typeof CallbackView>;

type ShownCallback = EndpointOrdering &
  EndpointDisabling &
  Pick<Endpoint, 'url' | 'events' | 'enabled' | 'headerNames'>;

export function toCallbackView(callback: ShownCallback): CallbackView {
  const { url, events, enabled, headerNames } = callback;
  return {
    url,
    events: [...events],
    enabled,
    ...toOrderingView(callback),
    ...toDisablingView(callback),
    ...(headerNames && { headerNames: [...headerNames] }),
  };
}
