import {
  callbackIdOf,
  NotFoundError,
  type PatchCallback,
  type Task,
  type TaskId,
  type WorkspaceId,
} from '@herald/core';
import type { Logger } from '@herald/runtime/log/logger';
import type { DeliveryMetrics } from '@herald/store/deliveries/create-delivery-metrics';
import type { CallbackStore } from '@herald/store/endpoints/callback-store';
import { refuseForbiddenUrl, type FindUrlProblem } from '../receivers/manage-receivers.ts';

export type ManageCallbacksDeps = {
  readonly callbacks: CallbackStore;
  readonly findUrlProblem: FindUrlProblem;
  readonly metrics: Pick<DeliveryMetrics, 'endpointDisabled'>;
  readonly logger: Logger;
  readonly now: () => number;
};

/** The operations on the callbacks of Tasks. */
export function createManageCallbacks({ callbacks, findUrlProblem, metrics, logger, now }: ManageCallbacksDeps) {
  const find = async (workspaceId: WorkspaceId, taskId: TaskId) => {
    const callback = await callbacks.find(workspaceId, callbackIdOf(taskId));
    if (!callback) throw new NotFoundError('callback', `of Task ${taskId}`);
    return callback;
  };
  return {
    /** Undefined when the Task has no callback. */
    findOf: async ({ workspaceId, callback }: Task) => callback && (await callbacks.find(workspaceId, callback.id)),
    /** @throws ValidationError, NotFoundError */
    async patch(workspaceId: WorkspaceId, taskId: TaskId, patch: PatchCallback) {
      if (patch.url !== undefined) refuseForbiddenUrl(findUrlProblem, patch.url, 'url');
      const { id, enabled: wasEnabled } = await find(workspaceId, taskId);
      if (!(await callbacks.patch(workspaceId, id, patch, now())))
        throw new NotFoundError('callback', `of Task ${taskId}`);
      if (wasEnabled && patch.enabled === false) metrics.endpointDisabled('by_request');
      logger.info('callback.changed', { endpointId: id, workspaceId, fields: Object.keys(patch).join(',') });
      return await find(workspaceId, taskId);
    },
  };
}
export type ManageCallbacks = ReturnType<typeof createManageCallbacks>;
