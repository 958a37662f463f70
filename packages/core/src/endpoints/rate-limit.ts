import { z } from 'zod';

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
