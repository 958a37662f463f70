/** Queues of every shard. `deliveries` is the line; `tests` is the lane of the test operation, which nothing delays. */
export const QUEUE_NAMES = ['deliveries', 'tests'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];
