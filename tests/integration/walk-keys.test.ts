import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import { walkKeys, type KeyStep } from '@herald/store/redis/walk-keys';
import { startRedis, waitFor } from '@herald/test-kit';
import { once } from 'node:events';
import { range } from './engine/start-engine.ts';

const COUNT = 1_200;

async function startFull() {
  const server = await startRedis();
  const target = { kind: 'single' as const, url: server.url };
  const redis = await connectRedis({ target, use: 'request', name: 'test', onError: () => undefined });
  await redis.mset(range(COUNT).flatMap((index) => [`key:${index}`, '1']));
  await redis.set('other', '1');
  return {
    redis,
    async [Symbol.asyncDispose]() {
      await closeRedis(redis);
      await server[Symbol.asyncDispose]();
    },
  };
}

test('every key that matches is named, and each step says how many of all were looked at', async () => {
  await using full = await startFull();
  const steps: KeyStep[] = [];
  for await (const step of walkKeys(full.redis, 'key:*')) steps.push(step);
  const names = new Set(steps.flatMap((step) => step.names));
  expect(names).toEqual(new Set(range(COUNT).map((index) => `key:${index}`)));
  expect(steps.map(({ looked, total }) => [looked, total]).slice(0, 3)).toEqual([
    [500, COUNT + 1],
    [1_000, COUNT + 1],
    [COUNT + 1, COUNT + 1],
  ]);
});

test('a walk ends with what to do when its connection broke on the way', async () => {
  await using full = await startFull();
  const walk = walkKeys(full.redis, 'key:*');
  await walk.next();
  full.redis.disconnect(true);
  await once(full.redis, 'close');
  await waitFor('another connection', () => full.redis.status === 'ready');
  await expect(walk.next()).rejects.toThrow('broke on the way through its keys. Start this again.');
});
