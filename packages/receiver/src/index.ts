export {
  EVENT_NAMES,
  type ApprovalRequest,
  type CanceledEvent,
  type CheckInEvent,
  type DecisionItem,
  type DoneEvent,
  type EventName,
  type HeraldEvent,
  type Outcome,
  type RequiresActionEvent,
  type TaskFacts,
  type TaskStatus,
  type TestEvent,
  type UnknownEvent,
} from './events/event.ts';
export { EventFormatError } from './events/event-format-error.ts';
export { isSample } from './events/is-sample.ts';
export { parseEvent } from './events/parse-event.ts';
export { createExpressHandler, type ExpressHandler } from './handlers/create-express-handler.ts';
export { createFetchHandler, type FetchHandler } from './handlers/create-fetch-handler.ts';
export type { NodeRequest } from './handlers/read-node-body.ts';
export type { FindSecrets, ReceiverOptions } from './handlers/receiver-options.ts';
export type { ReceiverRefusal } from './handlers/receiver-refusal.ts';
export type { SignatureMode } from './signatures/judge-delivery.ts';
export type { RawBody } from './signatures/raw-body.ts';
export type { WebhookHeaders } from './signatures/read-header.ts';
export type { Secrets } from './signatures/secrets.ts';
export { verify } from './signatures/verify.ts';
export { verifyStandard, type StandardOptions } from './signatures/verify-standard.ts';
export type { Claim, DeliveryStore, StoreOptions } from './stores/delivery-store.ts';
export { createMemoryStore, type MemoryStoreOptions } from './stores/memory-store.ts';
export { createRedisStore, type RedisClient, type RedisStoreOptions } from './stores/redis-store.ts';
