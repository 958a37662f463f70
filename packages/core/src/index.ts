export * from './deliveries/attempt.ts';
export * from './deliveries/delivery.ts';
export {
  CursorText,
  ListDeliveries,
  ListWorkspaceDeliveries,
  PageLimit,
  REPLAY_LIMIT,
  RequestReplay,
} from './deliveries/delivery-requests.ts';
export * from './deliveries/destination.ts';
export * from './deliveries/retry-policy.ts';
export { deliveryHeaders, SIGNATURE_HEADERS, signatureHeaders, type SigningKeys } from './deliveries/sign-delivery.ts';
export * from './duration.ts';
export * from './endpoints/endpoint.ts';
export * from './endpoints/signing-secret.ts';
export { RequestTest } from './endpoints/test-request.ts';
export * from './errors.ts';
export * from './events.ts';
export * from './ids/id-texts.ts';
export * from './ids/ids.ts';
export * from './ids/seed.ts';
export * from './tasks/task.ts';
export { plainText } from './text.ts';
export { factKeyOf, transitionIdOfFact } from './transitions/fact.ts';
export * from './transitions/judge-resolution.ts';
export * from './transitions/judge-transition.ts';
export { renderSampleBody } from './transitions/sample-body.ts';
export { PublicOutcome, projectOutcome } from './transitions/projection.ts';
export { BATCH_LIMIT, BatchItem, TransitionBatch, TransitionReport } from './transitions/transition-report.ts';
export * from './transitions/webhook-payloads.ts';
export { createActionUrl, renderTestBody, renderWebhookBody, type ActionUrl } from './transitions/webhook-body.ts';
