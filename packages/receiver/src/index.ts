export {
  createExpressHandler,
  type ExpressHandler,
  type NodeRequest,
  type NodeResponse,
} from './create-express-handler.ts';
export { createFetchHandler, type FetchHandler } from './create-fetch-handler.ts';
export {
  createMemoryStore,
  type Claim,
  type DeliveryStore,
  type MemoryStoreOptions,
  type StoreOptions,
} from './delivery-store.ts';
export * from './event.ts';
export type { FindSecrets, HandledDelivery, ReceiverOptions, ReceiverRefusal } from './receiver-options.ts';
export { createRedisStore, type RedisClient, type RedisStoreOptions } from './redis-store.ts';
export {
  sign,
  verifyAllowingReplays,
  /** The former name. */
  verifyAllowingReplays as verify,
  verifyStandard,
  type DeliveryToSign,
  type RawBody,
  type Secrets,
  type StandardOptions,
  type WebhookHeaders,
} from './signatures.ts';
export { verifyDelivery, type DeliveryToVerify, type SignatureMode, type VerifiedDelivery } from './verify-delivery.ts';
