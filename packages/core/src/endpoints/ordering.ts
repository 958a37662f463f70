import { z } from 'zod';
import { readDuration, writeDuration } from '../duration.ts';
import { ValidationError } from '../errors.ts';
import { formerNameRule, refuseBoth, rule } from '../text.ts';

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

type AskedTimeout = {
  readonly orderingTimeoutSeconds?: number;
  /** In ms. */
  readonly orderingTimeout?: number;
};

/** The timeout that a request asks for, in ms. */
export function askedOrderingTimeout(asked: AskedTimeout): number | undefined {
  const { orderingTimeoutSeconds, orderingTimeout } = asked;
  return orderingTimeoutSeconds === undefined ? orderingTimeout : orderingTimeoutSeconds * 1_000;
}

const [FORMER_NAME, NAME] = ['orderingTimeout', 'orderingTimeoutSeconds'] as const;

/** For `superRefine`. */
export const refuseTwoTimeouts = refuseBoth(FORMER_NAME, NAME);

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

/** As it is shown in whole seconds. */
export function orderingTimeoutSecondsOf({
  orderingTimeoutMs = DEFAULT_ORDERING_TIMEOUT_MS,
}: EndpointOrdering): number {
  return Math.ceil(orderingTimeoutMs / 1_000);
}

/**
 * The timeout that a PATCH sets, in ms; undefined: it stays. An answer that is sent back has both names, as they are.
 * @throws ValidationError when both are given and one of them is new
 */
export function changedOrderingTimeout(asked: AskedTimeout, before: EndpointOrdering): number | undefined {
  const { orderingTimeout, orderingTimeoutSeconds } = asked;
  const { orderingTimeoutMs = DEFAULT_ORDERING_TIMEOUT_MS } = before;
  const isSameText = orderingTimeout === undefined || orderingTimeout === orderingTimeoutMs;
  const isSame = orderingTimeoutSeconds === undefined || orderingTimeoutSeconds === orderingTimeoutSecondsOf(before);
  if (isSameText && isSame) return undefined;
  if (orderingTimeout !== undefined && orderingTimeoutSeconds !== undefined) {
    throw new ValidationError([{ path: FORMER_NAME, message: formerNameRule(NAME), code: 'conflict' }]);
  }
  return askedOrderingTimeout(asked);
}
