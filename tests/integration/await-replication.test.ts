import { UnavailableError } from '@herald/core';
import { createApiKeyStore } from '@herald/store/access/api-key-store';
import { createIdempotencyStore } from '@herald/store/access/idempotency-store';
import { createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { createAwaitReplication, type AwaitReplication } from '@herald/store/redis/await-replication';
import { closeRedis, connectRedis, mastersOf, type RedisClient } from '@herald/store/redis/connect-redis';
import { askRedis, startRedis, waitFor } from '@herald/test-kit';
import { limitMemory } from '../support/limit-memory.ts';
import { buildReceiver, newWorkspaceId, startStores, type Stores } from '../support/start-stores.ts';

let stores: Stores;
let redis: RedisClient;
/** Of no replica at all: it says only whether the server that is asked has the write. */
let awaitReplication: AwaitReplication;
beforeAll(async () => {
  stores = await startStores();
  ({ redis } = stores.second);
  awaitReplication = createAwaitReplication({ redis, minReplicas: 0 });
});
afterAll(() => stores[Symbol.asyncDispose]());

/** As if a server had taken over that never got the last write. */
const awaitAfterLoss: AwaitReplication = async (proof) => {
  await Promise.all(mastersOf(redis).map((master) => master.flushall()));
  return await awaitReplication(proof);
};
/** As if a server had taken over that never heard that a key is gone. */
const awaitAfterReturn: AwaitReplication = async (proof) => {
  await redis.hset(proof.key, 'id', 'key_1');
  return await awaitReplication(proof);
};

test.each([
  ['a key that is there', { key: 'there' }, true],
  ['a key that is not', { key: 'nowhere' }, false],
  ['a field that is there', { key: 'hash', field: 'there' }, true],
  ['a field that is not', { key: 'hash', field: 'nowhere' }, false],
  ['a field that reaches a number', { key: 'hash', field: 'there', least: 1 }, true],
  ['a field that does not', { key: 'hash', field: 'there', least: 2 }, false],
  ['a field with a text', { key: 'hash', field: 'text' }, true],
  ['a key that is gone', { key: 'nowhere', isGone: true }, true],
  ['a key that should be gone, and is there', { key: 'there', isGone: true }, false],
] as const)('the server decides of %s', async (_, proof, expected) => {
  await redis.set('there', 1);
  await redis.hset('hash', { there: '1.0000001', text: 'some' });
  expect(await awaitReplication(proof)).toBe(expected);
});

const withReceivers = (awaitReplication: AwaitReplication) =>
  createReceiverStore({ redis, awaitReplication, keyspace: stores.keyspace });
const withRecords = (awaitReplication: AwaitReplication) =>
  createIdempotencyStore({
    redis,
    awaitReplication,
    keyspace: stores.keyspace,
    now: Date.now,
    leaseMs: 60_000,
    keepMs: 60_000,
  });
const withKeys = (awaitReplication: AwaitReplication) => createApiKeyStore({ redis, awaitReplication, now: Date.now });
const newRequest = () => ({
  owner: 'ws_1',
  apiKeyId: 'key_1',
  method: 'POST',
  path: '/tasks/',
  idempotencyKey: newWorkspaceId(),
});

/** Each on a receiver that its workspace holds, with replication of one's choice. */
const changes: readonly (readonly [string, AwaitReplication, (replication: AwaitReplication) => Promise<unknown>])[] = [
  [
    'a change of a receiver',
    awaitAfterLoss,
    async (replication) => {
      const { workspaceId, id } = await register();
      return await withReceivers(replication).patch(workspaceId, id, { description: 'new' }, 1);
    },
  ],
  [
    'a removal of a receiver',
    awaitAfterLoss,
    async (replication) => {
      const { workspaceId, id } = await register();
      return await withReceivers(replication).remove(workspaceId, id, 1);
    },
  ],
  [
    'a registration that found the receiver there',
    awaitAfterLoss,
    async (replication) => await withReceivers(replication).register(await register(), 'encrypted.again'),
  ],
  [
    'an idempotency record',
    awaitAfterLoss,
    async (replication) => (await withRecords(replication).acquire(newRequest(), 'body')).kind,
  ],
  ['a new API key', awaitAfterLoss, async (replication) => await withKeys(replication).create({ scopes: ['execute'] })],
  [
    'a revocation',
    awaitAfterReturn,
    async (replication) => {
      const { record } = await withKeys(awaitReplication).create({ scopes: ['execute'] });
      return await withKeys(replication).revoke(record.id);
    },
  ],
];

async function register() {
  const receiver = buildReceiver(newWorkspaceId());
  await withReceivers(awaitReplication).register(receiver, 'encrypted.secret');
  return receiver;
}

test.each(changes)('%s is acknowledged where it is, and not by a server without it', async (_, elsewhere, change) => {
  expect(await change(awaitReplication)).not.toBe(false);
  await expect(change(elsewhere)).rejects.toThrow(UnavailableError);
});

test('an idempotency record that is not replicated is free at once, with the seed that it got', async () => {
  const request = newRequest();
  const seeds = [];
  const refuse: AwaitReplication = () => Promise.resolve(false);
  await expect(withRecords(refuse).acquire(request, 'body')).rejects.toThrow(UnavailableError);
  for (const store of [withRecords(awaitReplication), withRecords(refuse), withRecords(awaitReplication)]) {
    const reply = await store.acquire(request, 'body').catch(() => undefined);
    if (reply?.kind === 'acquired') {
      seeds.push(reply.record.seed);
      await reply.record.giveBack('perhaps');
    }
  }
  expect(seeds).toHaveLength(2);
  expect(seeds[0]).toEqual(seeds[1]);
});

test('a revocation that is not replicated can be asked for again', async () => {
  const { key, record } = await withKeys(awaitReplication).create({ scopes: ['execute'] });
  await expect(withKeys(() => Promise.resolve(false)).revoke(record.id)).rejects.toThrow(UnavailableError);
  expect(await withKeys(awaitReplication).find(key)).toBeUndefined();
  expect(await withKeys(awaitReplication).revoke(record.id)).toEqual({});
});

test('on a full Redis what ends something waits for the replica as ever, and for nothing when it has it', async () => {
  await using master = await startRedis();
  await using replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(master.port)] });
  const connect = () =>
    connectRedis({
      target: { kind: 'single', url: master.url },
      use: 'request',
      name: 'test',
      onError: () => undefined,
    });
  await using connections = new AsyncDisposableStack();
  const [own, waiting] = [await connect(), await connect()];
  for (const connection of [own, waiting]) connections.defer(() => closeRedis(connection));
  const isFollowing = async () => (await askRedis(replica.port, 'INFO replication')).includes('master_link_status:up');
  await waitFor('the replica to follow', isFollowing);
  const confirm = createAwaitReplication({ redis: waiting, minReplicas: 1 });
  const receivers = createReceiverStore({ redis: own, awaitReplication: confirm, keyspace: stores.keyspace });
  const receiver = buildReceiver(newWorkspaceId());
  await receivers.register(receiver, 'encrypted.secret');
  await limitMemory(own, 1);
  const remove = () => receivers.remove(receiver.workspaceId, receiver.id, 1);
  await expect(receivers.register(buildReceiver(receiver.workspaceId), 'encrypted.secret')).rejects.toThrow('OOM');

  process.kill(replica.pid, 'SIGSTOP');
  const withoutReplica = await remove().catch((error: unknown) => error);
  process.kill(replica.pid, 'SIGCONT');
  expect(withoutReplica).toEqual(
    expect.objectContaining({ message: expect.stringContaining('too few replicas') as string }),
  );
  await waitFor('the replica to go on', () =>
    remove().then(
      () => true,
      () => false,
    ),
  );
  expect(await askRedis(replica.port, `EXISTS ${stores.keys.endpoint(receiver.id)}`)).toContain(':0');
});
