import { hash, randomBytes } from 'node:crypto';
import { z } from 'zod';

export type TaskId = string;
/** A receiver's or a callback's id. */
export type EndpointId = string;
export type TransitionId = string;
export type DeliveryId = string;
export type WorkspaceId = string;

const DIGEST_BYTES = 20;

/** Patterns of the ids that stand in paths. */
export const ID_PATTERNS = {
  receiver: /^wh_[0-9a-hjkmnp-tv-z]{26}$/,
  task: /^task_[0-9a-hjkmnp-tv-z]{26}$/,
  delivery: /^dlv_[a-z2-7]{32}$/,
  replay: /^rpl_[0-9a-f]{24}$/,
  portal_link: /^plk_[0-9a-f]{16}$/,
  key: /^key_[0-9a-f]{16}$/,
  /** Chosen by the executor. */
  approval: /^[A-Za-z0-9._:-]{1,128}$/,
  /** Chosen by the platform. */
  workspace: /^[A-Za-z0-9_-]{1,64}$/,
} as const;

/**
 * 160 bits of SHA-256 over the parts. Each part has its length before it, so that no two lists of parts give one text.
 */
function derive(prefix: string, ...parts: string[]): string {
  const text = parts.map((part) => `${part.length}:${part}`).join('');
  return prefix + toBase32(hash('sha256', text, 'buffer').subarray(0, DIGEST_BYTES));
}

export function newTaskId(nowMs: number, random?: Uint8Array): TaskId {
  return `task_${sortableId(nowMs, random)}`;
}

/** Starts with `wh` (spec section 2). */
export function newReceiverId(nowMs: number, random?: Uint8Array): EndpointId {
  return `wh_${sortableId(nowMs, random)}`;
}

export function newMessageId(nowMs: number, random?: Uint8Array): string {
  return `msg_${sortableId(nowMs, random)}`;
}

/** @param random at least 12 bytes */
export function newReplayId(random: Uint8Array): string {
  return `rpl_${Buffer.from(random).toString('hex', 0, 12)}`;
}

/** A Task has at most one callback, so its id follows from the Task's. */
export function callbackIdOf(taskId: TaskId): EndpointId {
  return taskId.replace(/^task_/, 'cb_');
}

/** Tells a callback's id from a receiver's. */
export function isCallbackId(id: EndpointId): boolean {
  return id.startsWith('cb_');
}

/** The Task of a callback. */
export function taskIdOfCallback(callbackId: EndpointId): TaskId {
  return callbackId.replace(/^cb_/, 'task_');
}

/**
 * The id of a fact about a Task. It has no random part, so every path that reports the same fact yields the same id.
 * @param name the event, or `start` and `checkpoint` for facts that emit none
 * @param discriminator the checkpoint id, the action version, or the word `terminal` or `start`
 */
export function transitionIdOf(taskId: TaskId, name: string, discriminator: string): TransitionId {
  return derive('trn_', taskId, name, discriminator);
}

/** A test event states no fact about a Task, so each gets a new id. */
export function newTestTransitionId(): TransitionId {
  return `trn_${toBase32(randomBytes(DIGEST_BYTES))}`;
}

/** The id of a sample of a transition, which never happened. Recognize a sample by its Task's id, which is exact. */
export function newSampleTransitionId(): TransitionId {
  return `trn_sample${toBase32(randomBytes(DIGEST_BYTES)).slice('sample'.length)}`;
}

/** The id of a Task that there is not. No Task can have it: the alphabet of their ids lacks the letter l. */
export function newSampleTaskId(nowMs: number): TaskId {
  return `task_sample${sortableId(nowMs).slice('sample'.length)}`;
}

/**
 * The id of the fact that an attempt changed the state of an endpoint, of which the platform is told. It is known before
 * the attempt is recorded, so an attempt that is recorded twice yields one id.
 * @param attemptedAt epoch ms
 */
export function noticeIdOf(endpointId: EndpointId, deliveryId: DeliveryId, attemptedAt: number): TransitionId {
  return derive('trn_', endpointId, 'notice', deliveryId, String(attemptedAt));
}

/**
 * The `x-service-delivery` header, the BullMQ job id and the receiver's deduplication key, for ever (spec section 6).
 */
export function deliveryIdOf(transitionId: TransitionId, endpointId: EndpointId): DeliveryId {
  return derive('dlv_', transitionId, endpointId);
}

// Crockford's alphabet, lowercase: digits sort before letters in ASCII, so text order is numeric order.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** 26 characters: 48 bits of milliseconds, then 80 random bits, as a ULID; text order is time order. */
export function sortableId(nowMs: number, random: Uint8Array = randomBytes(16)): string {
  let time = '';
  for (let rest = nowMs, digit = 0; digit < 10; digit++, rest = Math.floor(rest / 32)) {
    time = ALPHABET.charAt(rest % 32) + time;
  }
  let tail = '';
  for (let index = 0; index < 16; index++) tail += ALPHABET.charAt((random[index] ?? 0) & 31);
  return time + tail;
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const BITS_OF_PAIR = 10;
/** Two characters at a time: half the steps of one. */
const PAIRS = Array.from(
  { length: 1 << BITS_OF_PAIR },
  (_, bits) => BASE32.charAt(bits >>> 5) + BASE32.charAt(bits & 31),
);

/** RFC 4648 base32 in lowercase, without padding. 20 bytes give 32 characters. */
export function toBase32(bytes: Uint8Array): string {
  let text = '';
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    if (bits >= BITS_OF_PAIR) {
      bits -= BITS_OF_PAIR;
      text += PAIRS[buffer >>> bits] ?? '';
      buffer &= (1 << bits) - 1;
    }
  }
  if (bits > 5) return text + (PAIRS[buffer << (BITS_OF_PAIR - bits)] ?? '');
  return bits > 0 ? text + BASE32.charAt(buffer << (5 - bits)) : text;
}

/**
 * The source of a new thing's id and time of creation. A request that is repeated under its `Idempotency-Key` has the
 * seed of the first run, and so finds the thing that the first run made instead of making another.
 */
export type Seed = {
  /** Epoch ms. */
  readonly at: number;
  /** 16 bytes. */
  readonly random: Uint8Array;
};

export function newSeed(nowMs: number): Seed {
  return { at: nowMs, random: randomBytes(16) };
}

// Ids as text in requests, answers and webhooks.

export const ReceiverIdText = idText(
  'ReceiverId',
  ID_PATTERNS.receiver,
  'Id of a receiver.',
  'wh_01kes8t4a0q3m1y5b9z7x2c6vd',
);
export const TaskIdText = idText('TaskId', ID_PATTERNS.task, 'Id of a Task.', 'task_01kes8t4a0q3m1y5b9z7x2c6vd');
/** In a webhook, which may be a sample. */
export const AnyTaskIdText = idText(
  'AnyTaskId',
  /^task_(sample[0-9a-hjkmnp-tv-z]{20}|[0-9a-hjkmnp-tv-z]{26})$/,
  'Id of a Task. That of a sample begins with `task_sample`; no Task ever has such an id.',
  'task_01kes8t4a0q3m1y5b9z7x2c6vd',
);
export const CallbackIdText = idText(
  'CallbackId',
  /^cb_[0-9a-hjkmnp-tv-z]{26}$/,
  "Id of a Task's callback: the id of the Task with another prefix.",
  'cb_01kes8t4a0q3m1y5b9z7x2c6vd',
);
export const EndpointIdText = idText(
  'EndpointId',
  /^(wh|cb)_[0-9a-hjkmnp-tv-z]{26}$/,
  "Id of a receiver (`wh_…`), or of a Task's callback (`cb_…`).",
  'wh_01kes8t4a0q3m1y5b9z7x2c6vd',
);
export const TransitionIdText = idText(
  'TransitionId',
  /^trn_[a-z2-7]{32}$/,
  'Id of a transition. Every path that reports the same fact yields the same id.',
  'trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw',
);
export const DeliveryIdText = idText(
  'DeliveryId',
  ID_PATTERNS.delivery,
  'Id of a delivery. The same on every try, another for every transition and endpoint.',
  'dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq',
);
export const ReplayIdText = idText('ReplayId', ID_PATTERNS.replay, 'Id of a replay.', 'rpl_0f1e2d3c4b5a69788796a5b4');
export const PortalLinkIdText = idText(
  'PortalLinkId',
  ID_PATTERNS.portal_link,
  'Id of a portal link. It lets nobody in: the token does.',
  'plk_0f1e2d3c4b5a6978',
);
export const ApiKeyIdText = idText(
  'ApiKeyId',
  ID_PATTERNS.key,
  'Id of an API key. It lets nobody in: the key does.',
  'key_0123456789abcdef',
);
export const ApprovalIdText = idText(
  'ApprovalId',
  ID_PATTERNS.approval,
  'Id of an approval request: the `approval_request.id` of the event.',
  'pay',
);

function idText(id: string, pattern: RegExp, description: string, example: string) {
  return z
    .string()
    .regex(pattern)
    .meta({ id, description, examples: [example] });
}
