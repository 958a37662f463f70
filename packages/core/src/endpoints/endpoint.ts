import { createHash, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { domainToUnicode } from 'node:url';
import { z } from 'zod';
import { EVENT_NAMES, EventName } from '../events.ts';
import type { EndpointId, WorkspaceId } from '../ids/ids.ts';
import { plainText, TypedText } from '../text.ts';
import { judgeEndpointUrl, LIMIT_CHARACTERS } from './judge-endpoint-url.ts';
import {
  type EndpointOrdering,
  OrderingText,
  OrderingTimeoutSeconds,
  OrderingTimeoutText,
  refuseTwoTimeouts,
} from './ordering.ts';
import { OwnHeaders } from './own-headers.ts';

const MOST_PER_SECOND = 1_000;
const BOUNDS = `must be a whole number from 1 to ${MOST_PER_SECOND}`;

/** The most deliveries that a receiver gets in a second, over all workers. */
export const RateLimit = z
  .strictObject(
    { perSecond: z.int(BOUNDS).min(1, BOUNDS).max(MOST_PER_SECOND, BOUNDS) },
    {
      error: ({ code }) =>
        code === 'invalid_type' ? 'must be an object such as {"perSecond": 10}, or null for no limit' : undefined,
    },
  )
  .meta({
    id: 'RateLimit',
    description:
      'The most deliveries in a second. After a quiet time a burst of one second may come at once. What waits spends no try. A redelivery does not wait, and test events do not count.',
    examples: [{ perSecond: 10 }],
  });
export type RateLimit = z.infer<typeof RateLimit>;

const CalledUrl = (instead?: string) =>
  z.string().superRefine((text, context) => {
    const problem = judgeEndpointUrl(text, domainToUnicode, instead);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  });

/** An endpoint's url: `https://` and a host, at most 2,048 characters, stored exactly as it was sent. */
export const EndpointUrl = CalledUrl().meta({
  id: 'EndpointUrl',
  description:
    '`https://` and a public host. No credentials, no fragment. The path and query are in their normal form: no `..`, and percent-encoded where needed. Called exactly as it was sent.',
  pattern: '^[Hh][Tt][Tt][Pp][Ss]://[^/?#]',
  maxLength: LIMIT_CHARACTERS,
  examples: ['https://hooks.example.com/herald'],
});

/** The same for notices, which have no headers of their own. */
export const NoticeUrl = CalledUrl('notices carry none, and whoever gets them verifies the signature');

/** Receivers that a workspace may hold (spec section 8). */
export const RECEIVER_LIMIT = 10;

// Allows some repeats: they are harmless.
const FILTER_LIMIT = EVENT_NAMES.length * 4;

const EventFilter = z
  .array(EventName, { error: 'must be an array of event names; an empty one stands for all' })
  .max(FILTER_LIMIT, `must have at most ${FILTER_LIMIT} names`)
  .transform((events) => EVENT_NAMES.filter((name) => events.includes(name)))
  .meta({ description: 'The events to send. Empty means every event.', examples: [['task.done', 'task.canceled']] });
const Description = TypedText(0, 1_024).meta({ description: 'For people.', examples: ['Billing, production'] });
const Enabled = z.boolean().meta({ description: 'A disabled receiver gets only test events.' });
/** No longer than the time after which every delivery is given up. */
const MOST_RETRY_HOURS = 120;
const RETRY_HOURS = `must be a whole number from 1 to ${MOST_RETRY_HOURS}`;
export const MaxRetryHours = z
  .int(RETRY_HOURS)
  .min(1, RETRY_HOURS)
  .max(MOST_RETRY_HOURS, RETRY_HOURS)
  .meta({
    description:
      'No try begins later than so many hours after the event, or after the replay that brought it back. Without it, the limit is five days.',
    examples: [24],
  });
const NEW_ORIGIN_DROPS_HEADERS = 'A url of another origin removes the `headers`, unless they are given with it.';

/** What may be given with a new receiver, and changed of one. */
const RECEIVER_SETTINGS = {
  headers: OwnHeaders.exactOptional(),
  maxRetryHours: MaxRetryHours.nullable().exactOptional(),
  ordering: OrderingText.exactOptional(),
  orderingTimeoutSeconds: OrderingTimeoutSeconds.exactOptional(),
  orderingTimeout: OrderingTimeoutText.exactOptional(),
  rateLimit: RateLimit.nullable().exactOptional(),
};

/** Body of `POST /api/public/webhooks` (spec section 4). An omitted or empty `events` subscribes to all. */
export const RegisterReceiver = z
  .strictObject({
    url: EndpointUrl,
    events: EventFilter.default([]),
    description: Description.default(''),
    enabled: Enabled.default(true),
    ...RECEIVER_SETTINGS,
  })
  .superRefine(refuseTwoTimeouts)
  .meta({ id: 'RegisterReceiver' });
export type RegisterReceiver = z.infer<typeof RegisterReceiver>;

const ReadBack = z.unknown().exactOptional().meta({
  readOnly: true,
  description: 'From an answer that is sent back: it changes nothing.',
});
const DISABLING_FIELDS = {
  disabledAt: ReadBack,
  disabledReason: ReadBack,
  disabledBy: ReadBack,
  lockedReason: ReadBack,
  headerNames: ReadBack,
};
/** What only answers have. A PATCH takes it, so that what was read can be sent back with a change. */
const READ_ONLY_OF_RECEIVER = {
  id: ReadBack,
  createdAt: ReadBack,
  health: ReadBack,
  pausedAt: ReadBack,
  pausedReason: ReadBack,
  secretOverlapEndsAt: ReadBack,
  warnings: ReadBack,
  ...DISABLING_FIELDS,
};

/** The fields of a PATCH that change something. */
function writable<Input extends object, Name extends string>(input: Input, readOnly: Readonly<Record<Name, unknown>>) {
  const fields = Object.entries(input).filter(([name]) => !(name in readOnly));
  return Object.fromEntries(fields) as Omit<Input, Name>;
}

const CHANGES_OF_RECEIVER = {
  url: EndpointUrl.exactOptional(),
  events: EventFilter.exactOptional(),
  description: Description.exactOptional(),
  enabled: Enabled.exactOptional(),
  ...RECEIVER_SETTINGS,
};
const CHANGED_NAMES = Object.keys(CHANGES_OF_RECEIVER).filter((name) => name !== 'orderingTimeout'); // a former name

/** Body of `PATCH /api/public/webhooks/{id}`. */
export const PatchReceiver = z
  .strictObject({
    ...CHANGES_OF_RECEIVER,
    ...READ_ONLY_OF_RECEIVER,
  })
  .transform((patch) => writable(patch, READ_ONLY_OF_RECEIVER))
  .refine((patch) => Object.keys(patch).length > 0, {
    error: `must change at least one of ${CHANGED_NAMES.join(', ')}`,
  })
  .meta({
    id: 'PatchReceiver',
    description: `Omitted fields stay unchanged. ${NEW_ORIGIN_DROPS_HEADERS} \`headers\` replaces all of them, and \`{}\` removes them. \`maxRetryHours\` or \`rateLimit\` of null removes it.`,
    minProperties: 1,
  });
export type PatchReceiver = z.infer<typeof PatchReceiver>;

/** Body of the operations that rotate a signing secret. */
export const RotateSecret = z
  .strictObject({
    overlapSeconds: z.int().min(0).max(604_800).default(86_400).meta({
      description: 'How long the old secret stays in force beside the new one, in seconds. 0 switches now.',
    }),
  })
  .meta({ id: 'RotateSecret' });
export type RotateSecret = z.infer<typeof RotateSecret>;

/** The `callback` of `POST /tasks`: for that Task only, never listed with receivers. */
export const TaskCallback = z
  .strictObject({
    url: EndpointUrl,
    events: EventFilter.default([]),
    headers: OwnHeaders.exactOptional(),
    ordering: OrderingText.exactOptional(),
    orderingTimeoutSeconds: OrderingTimeoutSeconds.exactOptional(),
    orderingTimeout: OrderingTimeoutText.exactOptional(),
  })
  .superRefine(refuseTwoTimeouts)
  .meta({
    id: 'TaskCallback',
    description: 'A URL for the events of this Task, besides the receivers. Never listed with receivers.',
  });
export type TaskCallback = z.infer<typeof TaskCallback>;

/** Body of `PATCH /tasks/{id}/callback`. */
export const PatchCallback = z
  .strictObject({
    url: EndpointUrl.exactOptional(),
    events: EventFilter.exactOptional(),
    enabled: z.boolean().meta({ description: 'A disabled callback gets nothing.' }).exactOptional(),
    headers: OwnHeaders.exactOptional(),
    ordering: OrderingText.exactOptional(),
    orderingTimeoutSeconds: OrderingTimeoutSeconds.exactOptional(),
    orderingTimeout: OrderingTimeoutText.exactOptional(),
    ...DISABLING_FIELDS,
  })
  .transform((patch) => writable(patch, DISABLING_FIELDS))
  .refine((patch) => Object.keys(patch).length > 0, {
    error: 'must change at least one of url, events, enabled, headers, ordering, orderingTimeoutSeconds',
  })
  .meta({
    id: 'PatchCallback',
    description: `Omitted fields stay unchanged. ${NEW_ORIGIN_DROPS_HEADERS} \`headers\` replaces all of them, and \`{}\` removes them.`,
    minProperties: 1,
  });
export type PatchCallback = z.infer<typeof PatchCallback>;

/** The target of deliveries: a receiver or a callback. Its signing secret is stored apart, encrypted. */
export type Endpoint = EndpointOrdering &
  EndpointDisabling &
  EndpointPause & {
    readonly id: EndpointId;
    readonly workspaceId: WorkspaceId;
    readonly url: string;
    /** Empty means every event. */
    readonly events: readonly EventName[];
    readonly description: string;
    readonly enabled: boolean;
    readonly rateLimit?: RateLimit;
    /** Epoch ms. */
    readonly createdAt: number;
    /** Names of the headers of its own, in lower case. Their values are stored apart, encrypted. Absent: none. */
    readonly headerNames?: readonly string[];
    /** It wants no try that starts later than so many hours after acceptance. Absent: the usual limit holds. */
    readonly maxRetryHours?: number;
  };

/** An endpoint without an event filter receives every event (spec section 6). */
export function wantsEvent({ events }: Pick<Endpoint, 'events'>, event: EventName): boolean {
  return events.length === 0 || events.includes(event);
}

/** Body of `POST /api/public/webhooks/{id}/test`. */
export const RequestTest = z
  .strictObject({
    event: EventName.default('webhook.test').meta({
      description: '`webhook.test`, or the event of a Task to send a sample of.',
    }),
  })
  .meta({ id: 'RequestTest', examples: [{ event: 'task.done' }] });

const PREFIX = 'whsec_';

/** A signing secret, which is shown once: `whsec_` + base64 of 32 random bytes. */
export function newSigningSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/** A secret prepared for signing: to prepare a key costs Node five times as much as to use it. */
export type SigningKey = {
  /** Tells secrets apart, and lets nobody sign: the first 6 hexadecimal digits of the SHA-256 of the secret as shown. */
  readonly id: string;
  /** For `x-service-signature`: the UTF-8 bytes of the secret as shown. */
  readonly service: KeyObject;
  /** For Standard Webhooks: the decoded bytes after the prefix. */
  readonly standard: KeyObject;
};

export function createSigningKey(secret: string): SigningKey {
  return {
    id: createHash('sha256').update(secret).digest('hex').slice(0, 6),
    service: createSecretKey(secret, 'utf8'),
    standard: createSecretKey(secret.slice(PREFIX.length), 'base64'),
  };
}

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
