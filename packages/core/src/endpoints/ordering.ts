import { z } from 'zod';
import { readDuration, writeDuration } from '../duration.ts';
import { refuseBoth, rule } from '../text.ts';

export const ORDERINGS = ['none', 'task'] as const;

/** `task`: the events of one Task go one after the other. */
export type Ordering = (typeof ORDERINGS)[number];

const [SHORTEST_MS, LONGEST_MS] = [60_000, 432_000_000];
/** How long an event waits for its turn, unless the endpoint sets another time, in ms. */
export const DEFAULT_ORDERING_TIMEOUT_MS = 86_400_000;

const TIMEOUT_RULE = 'must be a duration from 1m to 5d, such as 30m, 24h or 2d';

/** `ordering` of an endpoint, in a request. */
export const OrderingText = z.enum(ORDERINGS).meta({
  id: 'Ordering',
  description:
    '`task`: the next event of a Task is sent when the one before is `delivered`, `failed` or `canceled`. `none`, the default: each is sent at once.',
});

/** `orderingTimeout` of an endpoint, in a request; ms once it is parsed. */
export const OrderingTimeoutText = z
  .string({ error: rule(TIMEOUT_RULE) })
  .regex(/^\d{1,9}(ms|s|m|h|d)$/, { error: TIMEOUT_RULE, abort: true })
  .refine((text) => {
    const ms = readDuration(text);
    return ms !== undefined && ms >= SHORTEST_MS && ms <= LONGEST_MS;
  }, TIMEOUT_RULE)
  .transform((text) => readDuration(text) ?? DEFAULT_ORDERING_TIMEOUT_MS)
  .meta({
    deprecated: true,
    description: `The former name of \`orderingTimeoutSeconds\`, as a text. How long an event waits for those before it, from 1m to 5d. Then it is sent with the header \`x-service-ordering: released\`. Default: ${writeDuration(DEFAULT_ORDERING_TIMEOUT_MS)}. It counts only with \`ordering: "task"\`.`,
    examples: ['24h'],
  });

const SECONDS_RULE = `must be a whole number from ${SHORTEST_MS / 1_000} to ${LONGEST_MS / 1_000}`;

/** `orderingTimeoutSeconds` of an endpoint, in a request. */
export const OrderingTimeoutSeconds = z
  .int(SECONDS_RULE)
  .min(SHORTEST_MS / 1_000, SECONDS_RULE)
  .max(LONGEST_MS / 1_000, SECONDS_RULE)
  .meta({
    description: `How long an event waits for those before it. Then it is sent with the header \`x-service-ordering: released\`. Default: ${DEFAULT_ORDERING_TIMEOUT_MS / 1_000}, a day. It counts only with \`ordering: "task"\`.`,
    examples: [86_400],
  });

/** The timeout that a request asks for, in ms. */
export function askedOrderingTimeout(asked: {
  readonly orderingTimeoutSeconds?: number;
  readonly orderingTimeout?: number;
}): number | undefined {
  const { orderingTimeoutSeconds, orderingTimeout } = asked;
  return orderingTimeoutSeconds === undefined ? orderingTimeout : orderingTimeoutSeconds * 1_000;
}

/** For `superRefine`. */
export const refuseTwoTimeouts = refuseBoth('orderingTimeout', 'orderingTimeoutSeconds');

/** The fields of an endpoint that say in which order it gets the events of a Task. */
export type EndpointOrdering = {
  /** Absent: none. */
  readonly ordering?: Ordering;
  /** Absent: the default. */
  readonly orderingTimeoutMs?: number;
};

/** How long an event may wait for its turn, in ms; undefined: it doesn't wait. */
export function orderingTimeoutOf({ ordering, orderingTimeoutMs }: EndpointOrdering): number | undefined {
  return ordering === 'task' ? (orderingTimeoutMs ?? DEFAULT_ORDERING_TIMEOUT_MS) : undefined;
}
