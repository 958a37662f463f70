import { walkKeys, type KeyStep } from '@herald/store/redis/walk-keys';
import { waitFor } from '@herald/test-kit';
import { once } from 'node:events';
import { startStores, type Stores } from '../support/start-stores.ts';
import { range } from './engine/start-engine.ts';

const COUNT = 1_200;

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
  await stores.redis.mset(range(COUNT).flatMap((index) => [`key:${index}`, '1']));
  await stores.redis.set('other', '1');
});
afterAll(() => stores[Symbol.asyncDispose]());

test('every key that matches is named, and each step says how many of all were looked at', async () => {
  const steps: KeyStep[] = [];
  for await (const step of walkKeys(stores.redis, 'key:*')) steps.push(step);
  const names = new Set(steps.flatMap((step) => step.names));
  expect(names).toEqual(new Set(range(COUNT).map((index) => `key:${index}`)));
  expect(steps.map(({ looked, total }) => [looked, total]).slice(0, 3)).toEqual([
    [500, COUNT + 1],
    [1_000, COUNT + 1],
    [COUNT + 1, COUNT + 1],
  ]);
});

test('a walk ends with what to do when its connection broke on the way', async () => {
  const { redis } = stores;
  const walk = walkKeys(redis, 'key:*');
  await walk.next();
  redis.disconnect(true);
  await once(redis, 'close');
  await waitFor('another connection', () => redis.status === 'ready');
  await expect(walk.next()).rejects.toThrow('broke on the way through its keys. Start this again.');
});
