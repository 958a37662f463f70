export {
  errorCodeOf,
  isGone,
  isSuccess,
  isUnanswered,
  outcomeClassOf,
  type AttemptOutcome,
  type CountedOutcome,
  type TimeoutPhase,
  type UnreachableReason,
} from './deliveries/attempt.ts';
export { DELIVERY_STATUSES, type Delivery, type DeliveryStatus } from './deliveries/delivery.ts';
export { destinationOf, type DestinationId } from './deliveries/destination.ts';
export {
  createRetryPolicy,
  DEFAULT_SCHEDULE_MS,
  holdUntil,
  judgeAttempt,
  type AttemptVerdict,
  type FailureReason,
  type RetryPolicy,
} from './deliveries/retry-policy.ts';
export { signatureHeaders, type SigningKeys } from './deliveries/sign-delivery.ts';
export { readDuration } from './duration.ts';
export {
  PatchReceiver,
  RECEIVER_LIMIT,
  RegisterReceiver,
  RotateSecret,
  TaskCallback,
  wantsEvent,
  type DisabledReason,
  type Endpoint,
} from './endpoints/endpoint.ts';
export { CursorText, ListDeliveries, PageLimit, REPLAY_LIMIT, RequestReplay } from './deliveries/delivery-requests.ts';
export { createSigningKey, newSigningSecret, type SigningKey } from './endpoints/signing-secret.ts';
export {
  DomainError,
  InvalidTransitionError,
  NotFoundError,
  ReceiverDisabledError,
  ReceiverLimitReachedError,
  ReplayLimitReachedError,
  StaleActionVersionError,
  TaskClosedError,
  UnavailableError,
  ValidationError,
  type ErrorCode,
  type InputProblem,
} from './errors.ts';
export { EVENT_NAMES, EventName, type TaskEventName } from './events.ts';
export {
  ApprovalIdText,
  CallbackIdText,
  DeliveryIdText,
  ReceiverIdText,
  ReplayIdText,
  TaskIdText,
  TransitionIdText,
} from './ids/id-texts.ts';
export {
  callbackIdOf,
  deliveryIdOf,
  ID_PATTERNS,
  newMessageId,
  newReceiverId,
  newReplayId,
  newTaskId,
  newTestTransitionId,
  type DeliveryId,
  type EndpointId,
  type TaskId,
  type TransitionId,
  type WorkspaceId,
} from './ids/ids.ts';
export { newSeed, type Seed } from './ids/seed.ts';
export {
  AddMessage,
  CloseTask,
  CreateTask,
  isTerminal,
  Json,
  Outcome,
  ResolveApproval,
  TASK_STATUSES,
  TaskStatus,
  WorkspaceIdText,
  type Decision,
  type Message,
  type OpenAction,
  type Task,
  type TaskResult,
  type TaskState,
} from './tasks/task.ts';
export { factKeyOf, transitionIdOfFact } from './transitions/fact.ts';
export { judgeResolution, type ResolutionVerdict } from './transitions/judge-resolution.ts';
export { judgeTransition, type TaskChange, type TransitionVerdict } from './transitions/judge-transition.ts';
export { PublicOutcome, projectOutcome } from './transitions/projection.ts';
export { BATCH_LIMIT, BatchItem, TransitionBatch, TransitionReport } from './transitions/transition-report.ts';
export { WEBHOOK_PAYLOADS } from './transitions/webhook-payloads.ts';
export { createActionUrl, renderTestBody, renderWebhookBody, type ActionUrl } from './transitions/webhook-body.ts';
