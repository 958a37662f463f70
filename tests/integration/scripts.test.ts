import { defineScript } from '@herald/store/redis/script';
import { startStores, type Stores } from '../support/start-stores.ts';

const ADD_LUA = `
-- KEYS[1] a number   ARGV[1] what is added
return redis.call('INCRBY', KEYS[1], ARGV[1])
`;

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
});
afterAll(() => stores[Symbol.asyncDispose]());

test('a script that Redis does not know, or has forgotten, runs once for each call all the same', async () => {
  const { redis } = stores;
  const add = defineScript(redis, ADD_LUA);
  expect(await Promise.all([add(['sum'], [1]), add(['sum'], [1])])).toEqual([1, 2]);
  await redis.script('FLUSH');
  expect(await add(['sum'], [1])).toBe(3);
  expect(await redis.get('sum')).toBe('3');
});

test('the error of a script is that of Redis, and nothing runs again', async () => {
  const { redis } = stores;
  const fail = defineScript(redis, "redis.call('INCR', KEYS[1]) return redis.call('HGET', KEYS[1], 'x')");
  await expect(fail(['runs'], [])).rejects.toMatchObject({
    name: 'ReplyError',
    message: expect.stringContaining('WRONGTYPE') as string,
  });
  expect(await redis.get('runs')).toBe('1');
});

test('a script may be defined while other commands of the client wait in a pipeline', async () => {
  const { redis } = stores;
  const before = redis.set('early', '1');
  const double = defineScript(redis, "return redis.call('GET', KEYS[1]) * 2");
  const after = Promise.all([double(['early'], []), redis.get('early')]);
  expect(await before).toBe('OK');
  expect(await after).toEqual([2, '1']);
});
