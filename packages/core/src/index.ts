export * from './codes/attempt-errors.ts';
export * from './codes/code-table.ts';
export * from './codes/delivery-reasons.ts';
export * from './codes/problem-codes.ts';
export * from './codes/readiness-codes.ts';
export * from './deliveries/attempt.ts';
export * from './deliveries/delivery.ts';
export {
  CursorText,
  isSpan,
  ListDeliveries,
  ErrorFilter,
  HttpStatusFilter,
  ListWorkspaceDeliveries,
  namedEndpoint,
  NameEndpoint,
  PageLimit,
  REPLAY_LIMIT,
  RequestReplay,
  Time,
  UNTIL_RULE,
} from './deliveries/delivery-requests.ts';
export * from './deliveries/history.ts';
export * from './deliveries/retry-policy.ts';
export { deliveryHeaders, SIGNATURE_HEADERS, signatureHeaders, type SigningKeys } from './deliveries/sign-delivery.ts';
export * from './duration.ts';
export * from './endpoints/endpoint.ts';
export * from './endpoints/ordering.ts';
export type { OwnHeaders } from './endpoints/own-headers.ts';
export * from './errors.ts';
export * from './events.ts';
export * from './ids/ids.ts';
export * from './notices/notice.ts';
export * from './tasks/task.ts';
export { canonicalJson, plainText, refuseBoth } from './text.ts';
export {
  eventOf,
  factKeyOf,
  type KnownFact,
  RESULT_FIELDS,
  type ResultField,
  resultFieldsOf,
  transitionIdOfFact,
} from './transitions/fact.ts';
export * from './transitions/judge-transition.ts';
export {
  BATCH_LIMIT,
  BatchItem,
  projectOutcome,
  PublicOutcome,
  TransitionBatch,
  TransitionReport,
} from './transitions/transition-report.ts';
export * from './transitions/webhook-payloads.ts';
export {
  createActionUrl,
  renderSampleBody,
  renderTestBody,
  renderWebhookBody,
  type ActionUrl,
} from './transitions/webhook-body.ts';
