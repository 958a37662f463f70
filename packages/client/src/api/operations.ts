// Written by `npm run api:types` from the OpenAPI document.
import type { Operation, Route } from './operation.ts';

/** What the API key of a workspace, or the token of a portal link, is for. */
export interface TenantOperations {
  /**
   * List the receivers of the workspace: `GET /api/public/webhooks`.
   *
   * Needs an API key with the scope `webhooks`, or a portal link.
   */
  readonly listReceivers: Operation<'listReceivers'>;
  /**
   * Register a receiver: `POST /api/public/webhooks`.
   *
   * A workspace has at most 10 receivers. The signing secret is shown only in this answer.
   *
   * Needs an API key with the scope `webhooks`, or a portal link that is not read-only.
   */
  readonly registerReceiver: Operation<'registerReceiver'>;
  /**
   * Read a receiver: `GET /api/public/webhooks/{id}`.
   *
   * Its `ETag` stands for what can be set, not for its `health`.
   *
   * Needs an API key with the scope `webhooks`, or a portal link.
   */
  readonly readReceiver: Operation<'readReceiver'>;
  /**
   * Change a receiver: `PATCH /api/public/webhooks/{id}`.
   *
   * A receiver that the platform has locked is not changed. Omitted fields stay unchanged. A new URL, or enabling, resets the failure count. A URL of another origin (scheme, host and port) removes the `headers`, unless they are given in the same request: the answer then has no `headerNames`. A new `rateLimit` is also for what waits already; null removes it.
   *
   * Needs an API key with the scope `webhooks`, or a portal link that is not read-only.
   */
  readonly changeReceiver: Operation<'changeReceiver'>;
  /**
   * Remove a receiver: `DELETE /api/public/webhooks/{id}`.
   *
   * Its pending deliveries are canceled. A locked one can be removed, too.
   *
   * Needs an API key with the scope `webhooks`, or a portal link that is not read-only.
   */
  readonly removeReceiver: Operation<'removeReceiver'>;
  /**
   * Send a test event: `POST /api/public/webhooks/{id}/test`.
   *
   * Sends a signed `webhook.test` now, also to a receiver that is disabled, unless the platform has locked it, and whatever its `events` are. It is never retried. With `event`, it sends a sample of that event: made like a real one, with the header `x-service-sample: true`, and of a Task that does not exist (`task_sample…`).
   *
   * Needs an API key with the scope `webhooks`, or a portal link that is not read-only.
   */
  readonly testReceiver: Operation<'testReceiver'>;
  /**
   * Rotate a receiver's signing secret: `POST /api/public/webhooks/{id}/secret/rotate`.
   *
   * Also of one that is disabled or locked.
   *
   * Needs an API key with the scope `webhooks`, or a portal link that is not read-only.
   */
  readonly rotateReceiverSecret: Operation<'rotateReceiverSecret'>;
  /**
   * End the overlap of a rotation of a receiver's secret: `DELETE /api/public/webhooks/{id}/secret/previous`.
   *
   * The old secret is out of force at once, and the new one stays. Does nothing while no overlap is running (`secretOverlapEndsAt`). Also of one that is disabled or locked.
   *
   * Needs an API key with the scope `webhooks`, or a portal link that is not read-only.
   */
  readonly endReceiverOverlap: Operation<'endReceiverOverlap'>;
  /**
   * List a receiver's deliveries: `GET /api/public/webhooks/{id}/deliveries`.
   *
   * Newest first. For what has come since, keep the `sinceCursor` of the first page. Old deliveries come from the history, if the service has one. When it cannot be reached, a page with newer ones says `historyUnavailable`, and one that would have none is `history_unavailable`.
   *
   * Needs an API key with the scope `webhooks`, or a portal link.
   */
  readonly listReceiverDeliveries: Operation<'listReceiverDeliveries'>;
  /**
   * Read what attempts to a receiver came to: `GET /api/public/webhooks/{id}/stats`.
   *
   * Needs an API key with the scope `webhooks`, or a portal link.
   */
  readonly readReceiverStats: Operation<'readReceiverStats'>;
  /**
   * Send the deliveries of a time range again: `POST /api/public/webhooks/{id}/replay`.
   *
   * Sends the same bytes under the same delivery ids.
   *
   * Needs an API key with the scope `webhooks`, or a portal link that is not read-only.
   */
  readonly replayDeliveries: Operation<'replayDeliveries'>;
  /**
   * List the deliveries of the workspace: `GET /api/public/deliveries`.
   *
   * Newest first, to receivers (also to those removed lately) and to callbacks. A filter may leave a page short, or empty, and the next page has more: go on until `nextCursor` is null. With another filter, begin without a cursor. For what has come since, keep the `sinceCursor` of the first page. Old deliveries come from the history, if the service has one. When it cannot be reached, a page with newer ones says `historyUnavailable`, and one that would have none is `history_unavailable`.
   *
   * Needs an API key with the scope `webhooks`, or a portal link.
   */
  readonly listDeliveries: Operation<'listDeliveries'>;
  /**
   * Read a delivery: its request and its attempts: `GET /api/public/deliveries/{id}`.
   *
   * Needs an API key with the scope `webhooks`, or a portal link.
   */
  readonly readDelivery: Operation<'readDelivery'>;
  /**
   * Make one more attempt now: `POST /api/public/deliveries/{id}/redeliver`.
   *
   * Sends the same bytes under the same delivery id. After the 202, the attempt is made even if processes crash. It stands beside the schedule: a success makes the delivery `delivered`, a failure leaves its status, `tries` and `nextAttemptAt`.
   *
   * Needs an API key with the scope `webhooks`, or a portal link that is not read-only.
   */
  readonly redeliverDelivery: Operation<'redeliverDelivery'>;
  /**
   * Read the progress of a replay: `GET /api/public/replays/{id}`.
   *
   * Needs an API key with the scope `webhooks`, or a portal link.
   */
  readonly readReplay: Operation<'readReplay'>;
  /**
   * Stop a replay: `DELETE /api/public/replays/{id}`.
   *
   * Deliveries that are already pending are still sent.
   *
   * Needs an API key with the scope `webhooks`, or a portal link that is not read-only.
   */
  readonly stopReplay: Operation<'stopReplay'>;
  /**
   * Read what attempts of the workspace came to: `GET /api/public/stats`.
   *
   * Those to receivers and to callbacks, by time.
   *
   * Needs an API key with the scope `webhooks`, or a portal link.
   */
  readonly readStats: Operation<'readStats'>;
  /**
   * Ask whether anything happened: `GET /api/public/activity`.
   *
   * Of a receiver, of a callback, or of the whole workspace. The version changes when a delivery is accepted, attempted, redelivered or replayed, and when a receiver changes or its pending deliveries are canceled. It costs much less than a list: ask every few seconds, and read the list when the version has changed. It looks at no delivery, so it does not tell of the attempt of a test event, of what a removed receiver still had waiting, nor, for the whole workspace, of a redelivery to a callback before its attempt. So read the list every few minutes too. It may change although nothing happened.
   *
   * Needs an API key with the scope `webhooks`, or a portal link.
   */
  readonly readActivity: Operation<'readActivity'>;
  /**
   * Create a Task: `POST /tasks`.
   *
   * The signing secret of a callback is shown only in this answer.
   *
   * Needs an API key with the scope `tasks`.
   */
  readonly createTask: Operation<'createTask'>;
  /**
   * List the Tasks of the workspace: `GET /tasks`.
   *
   * Newest first, without their input, messages and decisions: `GET /tasks/{id}` has these. A page ends at 1 MiB of JSON, with one Task at least, and a filter may leave it short, or empty; the next page has more: go on until `nextCursor` is null.
   *
   * Needs an API key with the scope `tasks`.
   */
  readonly listWorkspaceTasks: Operation<'listWorkspaceTasks'>;
  /**
   * Read a Task: `GET /tasks/{id}`.
   *
   * Has the result, outcome and usage that terminal events omit, and the input, messages and decisions of the Task.
   *
   * Needs an API key with the scope `tasks`.
   */
  readonly readTask: Operation<'readTask'>;
  /**
   * Add context to a Task: `POST /tasks/{id}/messages`.
   *
   * Use it when a `task.requires_action` event arrives.
   *
   * Needs an API key with the scope `tasks`.
   */
  readonly addMessage: Operation<'addMessage'>;
  /**
   * Resolve an approval request: `POST /tasks/{id}/approvals/{approvalId}/resolve`.
   *
   * Resolving the primary request sets the Task running. An action whose `api_resolvable` is false takes only a key that has the scope `approvals:any` besides `tasks`.
   *
   * Needs an API key with the scope `tasks`.
   */
  readonly resolveApproval: Operation<'resolveApproval'>;
  /**
   * Cancel a Task: `POST /tasks/{id}/cancel`.
   *
   * Needs an API key with the scope `tasks`.
   */
  readonly cancelTask: Operation<'cancelTask'>;
  /**
   * Close a Task (legacy): `POST /tasks/{id}/close`.
   *
   * For callers of former times. Use `POST /tasks/{id}/cancel`, or the report of an executor. It makes the same transition as these, with the same delivery ids, and is not going to be removed.
   *
   * Needs an API key with the scope `tasks`.
   */
  readonly closeTask: Operation<'closeTask'>;
  /**
   * List a Task's deliveries: `GET /tasks/{id}/deliveries`.
   *
   * Includes those to its callback. Newest transition first. Old deliveries come from the history, if the service has one. When it cannot be reached, a page with newer ones says `historyUnavailable`, and one that would have none is `history_unavailable`.
   *
   * Needs an API key with the scope `tasks`, or a portal link.
   */
  readonly listTaskDeliveries: Operation<'listTaskDeliveries'>;
  /**
   * Change a Task's callback: `PATCH /tasks/{id}/callback`.
   *
   * A callback that the platform has locked is not changed. What is left out stays as it is. A new url forgets the failures of the old one; so does enabling. A URL of another origin removes the `headers`, unless they are given in the same request. A redelivery brings back what it missed.
   *
   * Needs an API key with the scope `tasks`.
   */
  readonly changeCallback: Operation<'changeCallback'>;
  /**
   * Rotate the signing secret of a Task's callback: `POST /tasks/{id}/callback/secret/rotate`.
   *
   * Needs an API key with the scope `tasks`.
   */
  readonly rotateCallbackSecret: Operation<'rotateCallbackSecret'>;
  /**
   * Erase what a closed Task held: `DELETE /tasks/{id}/payloads`.
   *
   * Erases its input, messages, decisions, result and outcome, the bodies of its webhooks, and what their endpoints answered. What stays: that it was delivered, to which endpoint, when and with which status, and the Task's `usage`. Pending deliveries of the Task end as `canceled` with the reason `payload_erased`; a request that is under way at that moment may still arrive. Repeat it until it is answered: that changes nothing, or finishes what was interrupted.
   *
   * Needs an API key with the scope `tasks`.
   */
  readonly erasePayloads: Operation<'erasePayloads'>;
  /**
   * Make a link to the console: `POST /api/public/portal-links`.
   *
   * Whoever has the link sees the receivers and deliveries of the workspace, and changes them unless it is read-only. It sees no input and no result of a Task. It ends with its time, with the API key that made it, or by `DELETE /api/public/portal-links/{id}`. A workspace has at most 100 living links; those that operators made count apart.
   *
   * Needs an API key with the scope `webhooks`.
   */
  readonly createPortalLink: Operation<'createPortalLink'>;
  /**
   * List the links to the console: `GET /api/public/portal-links`.
   *
   * Those that work now, newest first, with those that operators of the service made. Never a token. Links that were made before this operation was there are not listed; they end within a day.
   *
   * Needs an API key with the scope `webhooks`.
   */
  readonly listPortalLinks: Operation<'listPortalLinks'>;
  /**
   * End a link to the console: `DELETE /api/public/portal-links/{id}`.
   *
   * At once: every request with its token is refused from then on.
   *
   * Needs an API key with the scope `webhooks`.
   */
  readonly revokePortalLink: Operation<'revokePortalLink'>;
  /**
   * Read what these credentials may do: `GET /api/public/access`.
   *
   * Needs an API key of a workspace, or a portal link.
   */
  readonly readAccess: Operation<'readAccess'>;
}

/** What an executor key is for. */
export interface ExecutorOperations {
  /**
   * Report a transition of a Task: `POST /api/internal/tasks/{id}/transitions`.
   *
   * A fact that is reported again changes nothing. The answer is `duplicate: true`, with `differs: true` if its contents are others.
   *
   * Needs an API key with the scope `execute`.
   */
  readonly reportTransition: Operation<'reportTransition'>;
  /**
   * Report up to 500 transitions: `POST /api/internal/transitions`.
   *
   * Items are judged one by one, in order. An invalid item doesn't affect the others. The body may have 4 MiB.
   *
   * Needs an API key with the scope `execute`.
   */
  readonly reportTransitions: Operation<'reportTransitions'>;
  /**
   * Resolve an approval request of any workspace: `POST /api/internal/tasks/{id}/approvals/{approvalId}/resolve`.
   *
   * For the page behind `action_url`, where somebody has signed in: also resolves what is not `api_resolvable`.
   *
   * Needs an API key with the scope `execute`.
   */
  readonly resolveAnyApproval: Operation<'resolveAnyApproval'>;
  /**
   * List Tasks of all workspaces by status: `GET /api/internal/tasks`.
   *
   * Longest unchanged first. A page ends at 1 MiB of JSON, with one Task at least: go on until `nextCursor` is null.
   *
   * Needs an API key with the scope `execute`.
   */
  readonly listTasks: Operation<'listTasks'>;
  /**
   * Read a Task's input, messages and decisions: `GET /api/internal/tasks/{id}`.
   *
   * Needs an API key with the scope `execute`.
   */
  readonly readExecutorTask: Operation<'readExecutorTask'>;
}

/** What a platform key is for. */
export interface PlatformOperations {
  /**
   * Make an API key for a workspace: `POST /api/platform/workspaces/{workspaceId}/keys`.
   *
   * Nothing else is needed to sign a customer up: a workspace is there once it has anything. A workspace that has 100 living keys, however they were made, gets no more this way.
   *
   * Needs an API key with the scope `platform`.
   */
  readonly createWorkspaceKey: Operation<'createWorkspaceKey'>;
  /**
   * List the API keys of a workspace: `GET /api/platform/workspaces/{workspaceId}/keys`.
   *
   * Those that work now, newest first, however they were made. Never the keys themselves.
   *
   * Needs an API key with the scope `platform`.
   */
  readonly listWorkspaceKeys: Operation<'listWorkspaceKeys'>;
  /**
   * Revoke an API key of a workspace: `DELETE /api/platform/workspaces/{workspaceId}/keys/{keyId}`.
   *
   * At once: every request with it is refused from then on. The portal links that it made end with it.
   *
   * Needs an API key with the scope `platform`.
   */
  readonly revokeWorkspaceKey: Operation<'revokeWorkspaceKey'>;
  /**
   * Make a link to the console of a workspace: `POST /api/platform/workspaces/{workspaceId}/portal-links`.
   *
   * It ends with its time, with the platform key that made it, or by a DELETE. A workspace has at most 100 living links; those that operators made count apart.
   *
   * Needs an API key with the scope `platform`.
   */
  readonly createWorkspacePortalLink: Operation<'createWorkspacePortalLink'>;
  /**
   * List the links to the console of a workspace: `GET /api/platform/workspaces/{workspaceId}/portal-links`.
   *
   * Those that work now, newest first, whoever made them. Never a token.
   *
   * Needs an API key with the scope `platform`.
   */
  readonly listWorkspacePortalLinks: Operation<'listWorkspacePortalLinks'>;
  /**
   * End a link to the console of a workspace: `DELETE /api/platform/workspaces/{workspaceId}/portal-links/{linkId}`.
   *
   * At once: every request with its token is refused from then on.
   *
   * Needs an API key with the scope `platform`.
   */
  readonly revokeWorkspacePortalLink: Operation<'revokeWorkspacePortalLink'>;
  /**
   * Create a Task of a workspace: `POST /api/platform/workspaces/{workspaceId}/tasks`.
   *
   * As `POST /tasks` with a key of the workspace, but it may run in any workspace: what the platform names is believed.
   *
   * Needs an API key with the scope `platform`.
   */
  readonly createWorkspaceTask: Operation<'createWorkspaceTask'>;
  /**
   * Let Tasks of a workspace run in another: `POST /api/platform/workspaces/{workspaceId}/execution-workspaces`.
   *
   * Keys of the workspace may then name it as `executionWorkspaceId`. Events go to the receivers of the workspace in any case. A second request changes nothing. A workspace is bound to at most 100.
   *
   * Needs an API key with the scope `platform`.
   */
  readonly bindExecutionWorkspace: Operation<'bindExecutionWorkspace'>;
  /**
   * List where Tasks of a workspace may run: `GET /api/platform/workspaces/{workspaceId}/execution-workspaces`.
   *
   * The workspaces that are bound to it, the oldest binding first. Its Tasks may run in itself, too.
   *
   * Needs an API key with the scope `platform`.
   */
  readonly listExecutionWorkspaces: Operation<'listExecutionWorkspaces'>;
  /**
   * Let no more Tasks of a workspace run in another: `DELETE /api/platform/workspaces/{workspaceId}/execution-workspaces/{executionWorkspaceId}`.
   *
   * Tasks that are there already stay as they are.
   *
   * Needs an API key with the scope `platform`.
   */
  readonly unbindExecutionWorkspace: Operation<'unbindExecutionWorkspace'>;
  /**
   * End a workspace, and erase what it held: `DELETE /api/platform/workspaces/{workspaceId}`.
   *
   * Its keys and portal links end at once; its receivers and bindings are removed; its open Tasks are canceled; and of each Task all is erased that `DELETE /tasks/{id}/payloads` erases, also in the history. A request works for some ten seconds: repeat it until `erased` is true. Several may run at once, and whatever else ends meanwhile is passed over. What stays are facts without content, and the audit trail, until their time is over.
   *
   * Needs an API key with the scope `platform`.
   */
  readonly eraseWorkspace: Operation<'eraseWorkspace'>;
}

export const TENANT_ROUTES: Readonly<Record<keyof TenantOperations, Route>> = {
  listReceivers: { method: 'get', path: '/api/public/webhooks' },
  registerReceiver: { method: 'post', path: '/api/public/webhooks' },
  readReceiver: { method: 'get', path: '/api/public/webhooks/{id}' },
  changeReceiver: { method: 'patch', path: '/api/public/webhooks/{id}' },
  removeReceiver: { method: 'delete', path: '/api/public/webhooks/{id}' },
  testReceiver: { method: 'post', path: '/api/public/webhooks/{id}/test' },
  rotateReceiverSecret: { method: 'post', path: '/api/public/webhooks/{id}/secret/rotate' },
  endReceiverOverlap: { method: 'delete', path: '/api/public/webhooks/{id}/secret/previous' },
  listReceiverDeliveries: { method: 'get', path: '/api/public/webhooks/{id}/deliveries', items: 'deliveries' },
  readReceiverStats: { method: 'get', path: '/api/public/webhooks/{id}/stats' },
  replayDeliveries: { method: 'post', path: '/api/public/webhooks/{id}/replay' },
  listDeliveries: { method: 'get', path: '/api/public/deliveries', items: 'deliveries' },
  readDelivery: { method: 'get', path: '/api/public/deliveries/{id}' },
  redeliverDelivery: { method: 'post', path: '/api/public/deliveries/{id}/redeliver' },
  readReplay: { method: 'get', path: '/api/public/replays/{id}' },
  stopReplay: { method: 'delete', path: '/api/public/replays/{id}' },
  readStats: { method: 'get', path: '/api/public/stats' },
  readActivity: { method: 'get', path: '/api/public/activity' },
  createTask: { method: 'post', path: '/tasks' },
  listWorkspaceTasks: { method: 'get', path: '/tasks', items: 'tasks' },
  readTask: { method: 'get', path: '/tasks/{id}' },
  addMessage: { method: 'post', path: '/tasks/{id}/messages' },
  resolveApproval: { method: 'post', path: '/tasks/{id}/approvals/{approvalId}/resolve' },
  cancelTask: { method: 'post', path: '/tasks/{id}/cancel' },
  closeTask: { method: 'post', path: '/tasks/{id}/close' },
  listTaskDeliveries: { method: 'get', path: '/tasks/{id}/deliveries', items: 'deliveries' },
  changeCallback: { method: 'patch', path: '/tasks/{id}/callback' },
  rotateCallbackSecret: { method: 'post', path: '/tasks/{id}/callback/secret/rotate' },
  erasePayloads: { method: 'delete', path: '/tasks/{id}/payloads' },
  createPortalLink: { method: 'post', path: '/api/public/portal-links' },
  listPortalLinks: { method: 'get', path: '/api/public/portal-links' },
  revokePortalLink: { method: 'delete', path: '/api/public/portal-links/{id}' },
  readAccess: { method: 'get', path: '/api/public/access' },
};

export const EXECUTOR_ROUTES: Readonly<Record<keyof ExecutorOperations, Route>> = {
  reportTransition: { method: 'post', path: '/api/internal/tasks/{id}/transitions' },
  reportTransitions: { method: 'post', path: '/api/internal/transitions' },
  resolveAnyApproval: { method: 'post', path: '/api/internal/tasks/{id}/approvals/{approvalId}/resolve' },
  listTasks: { method: 'get', path: '/api/internal/tasks', items: 'tasks' },
  readExecutorTask: { method: 'get', path: '/api/internal/tasks/{id}' },
};

export const PLATFORM_ROUTES: Readonly<Record<keyof PlatformOperations, Route>> = {
  createWorkspaceKey: { method: 'post', path: '/api/platform/workspaces/{workspaceId}/keys' },
  listWorkspaceKeys: { method: 'get', path: '/api/platform/workspaces/{workspaceId}/keys' },
  revokeWorkspaceKey: { method: 'delete', path: '/api/platform/workspaces/{workspaceId}/keys/{keyId}' },
  createWorkspacePortalLink: { method: 'post', path: '/api/platform/workspaces/{workspaceId}/portal-links' },
  listWorkspacePortalLinks: { method: 'get', path: '/api/platform/workspaces/{workspaceId}/portal-links' },
  revokeWorkspacePortalLink: { method: 'delete', path: '/api/platform/workspaces/{workspaceId}/portal-links/{linkId}' },
  createWorkspaceTask: { method: 'post', path: '/api/platform/workspaces/{workspaceId}/tasks' },
  bindExecutionWorkspace: { method: 'post', path: '/api/platform/workspaces/{workspaceId}/execution-workspaces' },
  listExecutionWorkspaces: { method: 'get', path: '/api/platform/workspaces/{workspaceId}/execution-workspaces' },
  unbindExecutionWorkspace: { method: 'delete', path: '/api/platform/workspaces/{workspaceId}/execution-workspaces/{executionWorkspaceId}' },
  eraseWorkspace: { method: 'delete', path: '/api/platform/workspaces/{workspaceId}' },
};
