export * from './deliveries/attempt.ts';
export * from './deliveries/delivery.ts';
export { CursorText, ListDeliveries, PageLimit, REPLAY_LIMIT, RequestReplay } from './deliveries/delivery-requests.ts';
export * from './deliveries/destination.ts';
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
export * from './duration.ts';
export * from './endpoints/endpoint.ts';
export * from './endpoints/signing-secret.ts';
export * from './errors.ts';
export * from './events.ts';
export * from './ids/id-texts.ts';
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
export * from './ids/seed.ts';
export * from './tasks/task.ts';
export { factKeyOf, transitionIdOfFact } from './transitions/fact.ts';
export * from './transitions/judge-resolution.ts';
export * from './transitions/judge-transition.ts';
export { PublicOutcome, projectOutcome } from './transitions/projection.ts';
export { BATCH_LIMIT, BatchItem, TransitionBatch, TransitionReport } from './transitions/transition-report.ts';
export * from './transitions/webhook-payloads.ts';
export { createActionUrl, renderTestBody, renderWebhookBody, type ActionUrl } from './transitions/webhook-body.ts';
