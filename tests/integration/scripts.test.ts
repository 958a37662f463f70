import { defineScript } from '@herald/store/redis/script';
import { closeRedis, connectRedis, type ConnectionUse } from '@herald/store/redis/connect-redis';
import { askRedis, hasBlockedClient, patient, startRedis, waitFor } from '@herald/test-kit';
import { readFileSync } from 'node:fs';
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

test('a script may be defined while other commands of the client have no answer yet', async () => {
  const { redis } = stores;
  const before = redis.set('early', '1');
  const double = defineScript(redis, "return redis.call('GET', KEYS[1]) * 2");
  const after = Promise.all([double(['early'], []), redis.get('early')]);
  expect(await before).toBe('OK');
  expect(await after).toEqual([2, '1']);
});

/** A Redis of its own, which a test may let refuse, and one connection to it. */
async function startOwn(use: ConnectionUse) {
  await using cleanUp = new AsyncDisposableStack();
  const server = cleanUp.use(await startRedis());
  const told: string[] = [];
  const redis = await connectRedis({
    target: { kind: 'single', url: server.url },
    use,
    name: 'test',
    onError: ({ message }) => told.push(message),
  });
  cleanUp.defer(() => closeRedis(redis));
  const stack = cleanUp.move();
  return {
    redis,
    told,
    port: server.port,
    ask: (command: string) => askRedis(server.port, command),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** The calls of the system by which this process has written. */
const writes = () => Number(/^syscw: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);

test('what one callback sends goes out together, and is answered in its order', async () => {
  await using own = await startOwn('request');
  const { redis } = own;
  const add = defineScript(redis, ADD_LUA);
  await add(['written'], [1]);
  const before = writes();
  const answers = Promise.all(Array.from({ length: 100 }, () => add(['written'], [1])));
  const last = await redis.get('written');
  // Other tests have connections too.
  expect(writes() - before).toBeLessThan(50);
  expect(await answers).toEqual(Array.from({ length: 100 }, (_, index) => index + 2));
  expect(last).toBe('101');
});

test('in the background a script waits until Redis takes writes, which the listener hears, or the client is closed', async () => {
  await using own = await startOwn('background');
  const add = defineScript(own.redis, ADD_LUA);
  await own.ask('CONFIG SET min-replicas-to-write 1');
  const both = Promise.all([add(['sum'], [1]), add(['sum'], [1])]);
  await waitFor('the scripts to be refused', () => own.told.length > 0);
  await own.ask('CONFIG SET min-replicas-to-write 0');
  expect([...(await both)].sort()).toEqual([1, 2]);
  expect(own.told).toEqual(own.told.map(() => expect.stringMatching(/^NOREPLICAS/) as string));
  await own.ask('CONFIG SET min-replicas-to-write 1');
  const never = add(['sum'], [1]);
  const refused = never.catch(String);
  const before = own.told.length;
  await waitFor('it to be refused', () => own.told.length > before);
  await closeRedis(own.redis);
  expect(await refused).toMatch(/Connection is closed|NOREPLICAS/);
});

test.each([
  { use: 'request', setting: 'min-replicas-to-write', answer: 'NOREPLICAS' },
  { use: 'background', setting: 'maxmemory', answer: 'OOM' },
] as const)('a script for $use fails at once when Redis says $answer', async ({ use, setting, answer }) => {
  await using own = await startOwn(use);
  const add = defineScript(own.redis, ADD_LUA);
  await own.ask(`CONFIG SET ${setting} 1`);
  await expect(add(['sum'], [1])).rejects.toThrow(answer);
});

test('in the background a script is sent again when the connection breaks behind the first of several answers', async () => {
  await using own = await startOwn('background');
  const add = defineScript(own.redis, ADD_LUA);
  await add(['sum'], [1]);
  const others = Promise.allSettled([own.redis.set('proof', '1'), own.redis.wait(1, patient(1_000))]);
  const added = add(['sum'], [1]);
  await waitFor('Redis to wait for replicas', () => hasBlockedClient(own.port));
  await own.ask('CLIENT KILL TYPE normal');
  expect(await added).toBe(2);
  await others;
});
