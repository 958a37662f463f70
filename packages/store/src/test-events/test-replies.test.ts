import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { RedisClient } from '../redis/connect-redis.ts';
import { createTestReplyListener } from './test-replies.ts';

const CHANNEL = 'herald:test:dlv_1';

/** A subscribed connection, on which messages that are on their way arrive after the end, too. */
function createSubscriber(subscribe = () => Promise.resolve(), unsubscribe = () => Promise.resolve()) {
  const redis = Object.assign(new EventEmitter(), { subscribe, unsubscribe });
  return { redis, listen: createTestReplyListener(redis as unknown as RedisClient) };
}

test('nobody hears a reply any more once it is no longer listened for, or could not be', async () => {
  const { redis, listen } = createSubscriber();
  const replies = await listen('dlv_1');
  redis.emit('message', CHANNEL, JSON.stringify({ kind: 'answered', status: 200 }));
  expect(await replies.next(1)).toEqual({ kind: 'answered', status: 200 });
  // Whoever hears this throws.
  expect(() => redis.emit('message', CHANNEL, 'no reply')).toThrow(SyntaxError);
  await replies.close();
  expect(redis.emit('message', CHANNEL, 'no reply')).toBe(true);

  const away = createSubscriber(() => Promise.reject(new Error('away')));
  await expect(away.listen('dlv_1')).rejects.toThrow('away');
  expect(away.redis.emit('message', CHANNEL, 'no reply')).toBe(true);
});

test('the end is told once Redis has ended the subscription', async () => {
  let isEnded = false;
  const unsubscribe = async () => {
    await setImmediate();
    isEnded = true;
  };
  const replies = await createSubscriber(undefined, unsubscribe).listen('dlv_1');
  await replies.close();
  expect(isEnded).toBe(true);
});
