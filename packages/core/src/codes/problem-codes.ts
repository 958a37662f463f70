import type { CodeEntry } from './code-table.ts';

type ProblemEntry = CodeEntry & { readonly status: number };
type ProblemTable = Readonly<Record<string, ProblemEntry>>;

const CHECK_ID = 'Check the id, and that the API key belongs to the right workspace.';

/** Foreseen faults of the domain: the codes of `DomainError`s. */
const DOMAIN_PROBLEMS = {
  workspace_not_found: {
    status: 404,
    meaning: 'Nothing is known of such a workspace.',
    action: 'Check the id. `GET /api/operator/search` finds the workspace of a receiver, a delivery or a Task.',
  },
  receiver_not_found: { status: 404, meaning: 'The workspace has no such receiver.', action: CHECK_ID },
  task_not_found: { status: 404, meaning: 'The workspace has no such Task.', action: CHECK_ID },
  approval_not_found: {
    status: 404,
    meaning: 'The current action of the Task has no such approval request.',
    action: 'Use the `approval_request.id` of the newest `task.requires_action` event.',
  },
  callback_not_found: {
    status: 404,
    meaning: 'The Task has no callback.',
    action: 'Give a `callback` when you create a Task.',
  },
  delivery_not_found: { status: 404, meaning: 'The workspace has no such delivery.', action: CHECK_ID },
  replay_not_found: { status: 404, meaning: 'The workspace has no such replay.', action: CHECK_ID },
  portal_link_not_found: {
    status: 404,
    meaning: 'The workspace has no such portal link: it has ended, or there never was one.',
    action:
      '`GET /api/public/portal-links` lists those that there are. Check that the API key belongs to the right workspace.',
  },
  key_not_found: {
    status: 404,
    meaning: 'The workspace has no such API key: it has ended, or there never was one.',
    action: '`GET /api/platform/workspaces/{workspaceId}/keys` lists those that there are.',
  },
  workspace_not_bound: {
    status: 403,
    meaning:
      'A key of a workspace named an execution workspace that is neither its own nor one that the platform has bound to it.',
    action:
      'Leave `executionWorkspaceId` out. The platform binds two workspaces, or creates the Task, with `/api/platform`.',
  },
  key_limit_reached: {
    status: 409,
    meaning: 'The workspace already has as many API keys as the platform may make for it.',
    action: 'Revoke one with `DELETE /api/platform/workspaces/{workspaceId}/keys/{keyId}`.',
  },
  binding_limit_reached: {
    status: 409,
    meaning: 'The workspace is already bound to as many execution workspaces as it may be.',
    action: 'End a binding that nobody needs. A Task in any other workspace can be created with a platform key.',
  },
  receiver_limit_reached: {
    status: 409,
    meaning: 'The workspace already has as many receivers as it may.',
    action: 'Remove a receiver first.',
  },
  replay_limit_reached: {
    status: 409,
    meaning: 'The workspace already has as many replays under way as it may.',
    action: 'Wait for one to end, or stop one.',
  },
  listener_limit_reached: {
    status: 409,
    meaning: 'As many listen to the workspace as may.',
    action: 'End one first. The place of one that died is free after half a minute.',
  },
  portal_link_limit_reached: {
    status: 409,
    meaning: 'The workspace already has as many portal links as it may.',
    action: 'End one with `DELETE /api/public/portal-links/{id}`, or wait until one ends. Give links a shorter life.',
  },
  receiver_disabled: {
    status: 409,
    meaning: 'The receiver or the callback is disabled.',
    action: 'Enable it with `PATCH /api/public/webhooks/{id}` or `PATCH /tasks/{id}/callback`.',
  },
  receiver_locked: {
    status: 409,
    meaning:
      'The platform disabled the receiver or the callback, and locked it. It stays as it is, and nothing is sent to it.',
    action:
      'Ask the platform: `detail`, and `lockedReason` of the receiver, say why. Until the lock is lifted, a receiver can be removed and its secret rotated, and nothing else.',
  },
  invalid_transition: {
    status: 409,
    meaning: "The Task's state doesn't allow it.",
    action: 'Read the Task with `GET /tasks/{id}`. `detail` says what its state is.',
  },
  task_closed: {
    status: 409,
    meaning: 'The Task is done or canceled and takes nothing more.',
    action: 'Create another Task.',
  },
  task_open: {
    status: 409,
    meaning: 'The Task is not done or canceled yet.',
    action: 'Cancel it with `POST /tasks/{id}/cancel`, or wait until it ends.',
  },
  payload_erased: {
    status: 409,
    meaning: 'The payload of the delivery was erased.',
    action: 'Nothing: there is nothing left to send.',
  },
  payload_not_kept: {
    status: 409,
    meaning: 'The payload of the delivery is no longer kept: the service keeps none in its history.',
    action: 'Read the Task with `GET /tasks/{id}`. Operators keep payloads with `HISTORY_BODIES=true`.',
  },
  not_api_resolvable: {
    status: 403,
    meaning: 'The `api_resolvable` of the action is false: a key of its workspace may not resolve it.',
    action:
      'Send somebody to the `action_url` of its event. The page behind it resolves with an executor key, or with a key that has the scope `approvals:any`.',
  },
  stale_action_version: {
    status: 409,
    meaning: 'Another action version is the current one.',
    action: 'Use the `action_version` of the newest `task.requires_action` event.',
  },
  workspace_full: {
    status: 429,
    meaning:
      'The workspace has as many deliveries pending as it may, or its Tasks, facts, bodies, attempts and kept answers take as much as they may. What would add to that is refused to it alone: its reports and Tasks, test events and redeliveries, and a POST with a new `Idempotency-Key`. Its replays wait.',
    action:
      'Repeat the request after `Retry-After`. Look for receivers that answer late or not at all, and close Tasks that nobody works on. Operators raise `WORKSPACE_PENDING_LIMIT` and `WORKSPACE_BYTES`.',
  },
  precondition_failed: {
    status: 412,
    meaning:
      'The receiver was changed since its `ETag` was read, or the request has an `If-Match` where nothing has an `ETag`.',
    action: 'Read it again, decide anew, and send the new `ETag` in `If-Match`. Nothing was changed.',
  },
  validation_failed: {
    status: 422,
    meaning: 'The input breaks rules. Nothing was changed.',
    action: '`errors` names each place and says what to change.',
  },
  unavailable: {
    status: 503,
    meaning: 'Redis, or the workers, cannot be reached now.',
    action: 'Repeat the request after `Retry-After`, with its `Idempotency-Key`. Operators look at `/readyz`.',
  },
  history_unavailable: {
    status: 503,
    meaning: 'The history of deliveries (PostgreSQL) cannot be reached now. What is in Redis is still answered.',
    action: 'Repeat the request after `Retry-After`. Operators look at `/readyz` and `herald history status`.',
  },
} as const satisfies ProblemTable;

/** Faults of a request that HTTP itself knows, and internal errors. */
const REQUEST_PROBLEMS = {
  invalid_json: {
    status: 400,
    meaning: 'The body is not valid JSON, or ended early.',
    action: 'Send one complete JSON value.',
  },
  malformed_request: {
    status: 400,
    meaning: 'The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.',
    action: 'Mend the client, or the proxy in between. `detail` says what to send.',
  },
  unauthenticated: {
    status: 401,
    meaning: 'The API key, or the portal link, is missing, unknown, expired or revoked.',
    action:
      'Send `Authorization: Bearer <API key>`. Ask your platform for a key, or for a new link. Operators sign in by HTTP Basic.',
  },
  insufficient_scope: {
    status: 403,
    meaning: 'The API key lacks the scope of the operation, or a portal link may not use it.',
    action: '`detail` names what is needed.',
  },
  foreign_origin: {
    status: 403,
    meaning: 'A page of another site asked for a change on the operator pages.',
    action: 'Use the operator pages themselves. Programs send the header `Origin` that `detail` names.',
  },
  route_not_found: {
    status: 404,
    meaning: 'There is nothing at this path.',
    action: 'Compare the path with `/openapi.json`.',
  },
  method_not_allowed: {
    status: 405,
    meaning: "The path doesn't have this method.",
    action: 'Use a method that the header `Allow` names.',
  },
  request_timeout: {
    status: 408,
    meaning: 'The request took too long to arrive.',
    action: 'Send the headers within 10 seconds, and all of the request within 30.',
  },
  idempotency_conflict: {
    status: 409,
    meaning: 'This `Idempotency-Key` came with another body.',
    action: 'Use a new key for every new request.',
  },
  request_in_progress: {
    status: 409,
    meaning: 'The first request with this `Idempotency-Key` is not answered yet.',
    action: 'Repeat the request after `Retry-After`.',
  },
  payload_too_large: {
    status: 413,
    meaning: 'The body is larger than 256 KiB, or a batch than 4 MiB.',
    action: 'Send less, or several batches.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body is not `application/json` in UTF-8, or is compressed.',
    action: 'Send `Content-Type: application/json`, and the body as it is.',
  },
  rate_limited: {
    status: 429,
    meaning: 'Too many requests of this workspace, or too many failed authentications from this address.',
    action: 'Wait as long as `Retry-After` says, then send more slowly.',
  },
  headers_too_large: {
    status: 431,
    meaning: 'The request line and headers are larger than 16 KiB together.',
    action: 'Send shorter headers and a shorter query.',
  },
  internal: {
    status: 500,
    meaning: 'An internal error. The request id finds it in the log of the service.',
    action: 'Repeat the request with its `Idempotency-Key`. If it stays, tell the operators the request id.',
  },
} as const satisfies ProblemTable;

/** Every code that an answer of the API may have. */
export const PROBLEMS = { ...REQUEST_PROBLEMS, ...DOMAIN_PROBLEMS } as const satisfies ProblemTable;

/** Stable code of an answer that is an error. */
export type ProblemCode = keyof typeof PROBLEMS;
/** The code of a foreseen fault of the domain. */
export type ErrorCode = keyof typeof DOMAIN_PROBLEMS;
/** The code of a fault that HTTP itself knows. */
export type RequestFaultCode = Exclude<keyof typeof REQUEST_PROBLEMS, 'internal'>;
