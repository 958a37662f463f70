import { DEFAULT_ORDERING_TIMEOUT_MS, ORDERINGS, writeDuration, type EndpointOrdering } from '@herald/core';
import { z } from 'zod';

/** In which order a receiver or a callback gets the events of a Task. */
export const OrderingFields = {
  ordering: z.enum(ORDERINGS).meta({
    description: '`task`: the events of one Task go one after the other, in the order of their `sequence`.',
  }),
  orderingTimeoutSeconds: z
    .int()
    .min(0)
    .meta({
      description: 'How long an event waits for those before it, if `ordering` is `task`.',
      examples: [86_400],
    }),
  orderingTimeout: z.string().meta({
    deprecated: true,
    description: 'The former name of `orderingTimeoutSeconds`, as a text.',
    examples: ['24h'],
  }),
};

export function toOrderingView({
  ordering = 'none',
  orderingTimeoutMs = DEFAULT_ORDERING_TIMEOUT_MS,
}: EndpointOrdering) {
  return {
    ordering,
    orderingTimeoutSeconds: Math.ceil(orderingTimeoutMs / 1_000),
    orderingTimeout: writeDuration(orderingTimeoutMs),
  };
}
