import { z } from 'zod';
import { plainText } from '../text.ts';

/** Why an endpoint is disabled. */
export const DISABLED_REASONS = ['by_request', 'locked', 'gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/**
 * Who disabled an endpoint: the id of an API key (`key_…`) or of a portal link (`plk_…`), `platform` for an operator, or
 * `herald` itself.
 */
export type DisabledBy = string;

/** The fields of an endpoint that say that it is disabled. All are absent while it is enabled. */
export type EndpointDisabling = {
  /** Epoch ms. */
  readonly disabledAt?: number;
  /** `locked`: only the platform enables it again. */
  readonly disabledReason?: DisabledReason;
  /** Absent in records of earlier versions. */
  readonly disabledBy?: DisabledBy;
  /** What the platform says about a lock. Absent: nothing. */
  readonly lockedReason?: string;
};

const LOCK_REASON_LENGTH = 200;

/** Why the platform locks an endpoint: its customer reads it. */
export const LockReason = z
  .string()
  .min(1, 'must not be empty; leave it out to give no reason')
  .max(LOCK_REASON_LENGTH, `must have at most ${LOCK_REASON_LENGTH} characters`)
  .refine((text) => text === plainText(text).trim(), 'must be plain text on one line, without blanks around it')
  .meta({
    description: 'Why, in a sentence. The customer reads it. Never put in what he must not know.',
    examples: ['Its host asked us to stop.'],
  });

/** Body of the operation by which an operator locks a receiver. */
export const LockReceiver = z.strictObject({ reason: LockReason.exactOptional() }).meta({ id: 'LockReceiver' });
export type LockReceiver = z.infer<typeof LockReceiver>;
