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

/** The fields of a receiver that the platform has paused: nothing is sent to it, and what comes waits. */
export type EndpointPause = {
  /** Epoch ms. Absent: it isn't paused. */
  readonly pausedAt?: number;
  /** What the platform says about it. Absent: nothing. */
  readonly pausedReason?: string;
};

const REASON_LENGTH = 200;

/** Why the platform locks or pauses an endpoint: its customer reads it. */
export const PlatformReason = z
  .string()
  .min(1, 'must not be empty; leave it out to give no reason')
  .max(REASON_LENGTH, `must have at most ${REASON_LENGTH} characters`)
  .refine((text) => text === plainText(text).trim(), 'must be plain text on one line, without blanks around it')
  .meta({
    description: 'Why, in a sentence. The customer reads it. Never put in what he must not know.',
    examples: ['Its host asked us to stop.'],
  });

/** Body of the operation by which an operator locks a receiver. */
export const LockReceiver = z.strictObject({ reason: PlatformReason.exactOptional() }).meta({ id: 'LockReceiver' });
export type LockReceiver = z.infer<typeof LockReceiver>;

/** Body of the operation by which an operator pauses a receiver. */
export const PauseReceiver = z.strictObject({ reason: PlatformReason.exactOptional() }).meta({ id: 'PauseReceiver' });
export type PauseReceiver = z.infer<typeof PauseReceiver>;
