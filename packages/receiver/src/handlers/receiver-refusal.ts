import type { Refusal } from '../signatures/judge-delivery.ts';
import type { BodyFault } from './answer.ts';

/** A request that was not let through to `handle`, and is no fault of this program. */
export type ReceiverRefusal = {
  /** The check that failed. */
  readonly reason: Refusal | Exclude<BodyFault, 'body_already_read'> | 'event_format';
  /** The same in words. */
  readonly detail: string;
  /** The status that it was answered with. */
  readonly status: number;
  readonly path: string;
  /** What it gave as its delivery's id. Nothing proves that it is. */
  readonly deliveryId?: string;
};
