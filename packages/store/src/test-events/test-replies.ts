import type { DeliveryId } from '@herald/core';
import { z } from 'zod';
import type { RedisClient } from '../redis/connect-redis.ts';

/**
 * A worker's messages about a test event: first that it sends the event, with its deadline; then the outcome. A worker
 * of release 0.1.0 tells neither the duration nor the answer. What is not sent has no duration.
 */
export const TestReply = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sending'), deadlineMs: z.number() }),
  z.object({
    kind: z.literal('answered'),
    status: z.int(),
    durationMs: z.int().exactOptional(),
    answer: z.string().exactOptional(),
    bodyNote: z.string().exactOptional(),
  }),
  z.object({ kind: z.literal('unanswered'), error: z.string(), durationMs: z.int().exactOptional() }),
]);
export type TestReply = z.infer<typeof TestReply>;

const channelOf = (id: DeliveryId) => `herald:test:${id}`;

/** Sends a message about a test event. Nobody may be listening any more. */
export async function publishTestReply(redis: RedisClient, id: DeliveryId, reply: TestReply): Promise<void> {
  await redis.publish(channelOf(id), JSON.stringify(reply));
}

/** @param redis a connection of its own: a subscribed one can do nothing else */
export function createTestReplyListener(redis: RedisClient) {
  const receivers = new Map<string, (text: string) => void>();
  redis.on('message', (channel: string, text: string) => receivers.get(channel)?.(text));

  /** Listens for the replies about one test event. Once this resolves, it misses none. */
  return async function listenForReplies(id: DeliveryId) {
    const channel = channelOf(id);
    const arrived: TestReply[] = [];
    let wake: () => void = () => undefined;
    receivers.set(channel, (text) => {
      arrived.push(TestReply.parse(JSON.parse(text)));
      wake();
    });
    try {
      await redis.subscribe(channel);
    } catch (error) {
      receivers.delete(channel);
      throw error;
    }
    return {
      /** The next reply, or undefined when `withinMs` pass without one. */
      async next(withinMs: number): Promise<TestReply | undefined> {
        if (arrived.length === 0) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, withinMs);
            wake = () => {
              clearTimeout(timer);
              resolve();
            };
          });
        }
        return arrived.shift();
      },
      async close(): Promise<void> {
        receivers.delete(channel);
        await redis.unsubscribe(channel);
      },
    };
  };
}
export type TestReplyListener = ReturnType<typeof createTestReplyListener>;
export type TestReplies = Awaited<ReturnType<TestReplyListener>>;
