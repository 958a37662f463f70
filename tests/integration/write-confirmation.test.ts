import { UnavailableError } from '@herald/core';
import { createApiKeyStore } from '@herald/store/api-keys/api-key-store';
import { createClaimStore } from '@herald/store/idempotency/claim-store';
import { createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { createWriteConfirmation, type ConfirmWrite } from '@herald/store/scripts/write-confirmation';
import { mastersOf, type RedisClient } from '@herald/store/redis/connect-redis';
import { buildReceiver, newWorkspaceId, startStores, type Stores } from '../support/start-stores.ts';

let stores: Stores;
let redis: RedisClient;
/** Of no replica at all: it says only whether the server that is asked has the write. */
let confirmWrite: ConfirmWrite;
beforeAll(async () => {
  stores = await startStores();
  ({ redis } = stores.second);
  confirmWrite = createWriteConfirmation({ redis, minReplicas: 0 });
});
afterAll(() => stores[Symbol.asyncDispose]());

/** As if a server had taken over that never got the last write. */
const confirmAfterLoss: ConfirmWrite = async (proof) => {
  await Promise.all(mastersOf(redis).map((master) => master.flushall()));
  return await confirmWrite(proof);
};
/** As if a server had taken over that never heard that a key is gone. */
const confirmAfterReturn: ConfirmWrite = async (proof) => {
  await redis.hset(proof.key, 'id', 'key_1');
  return await confirmWrite(proof);
};

test.each([
  ['a key that is there', { key: 'there' }, true],
  ['a key that is not', { key: 'nowhere' }, false],
  ['a field that is there', { key: 'hash', field: 'there' }, true],
  ['a field that is not', { key: 'hash', field: 'nowhere' }, false],
  ['a key that is gone', { key: 'nowhere', isGone: true }, true],
  ['a key that should be gone, and is there', { key: 'there', isGone: true }, false],
] as const)('the server decides of %s', async (_, proof, expected) => {
  await redis.set('there', 1);
  await redis.hset('hash', 'there', 1);
  expect(await confirmWrite(proof)).toBe(expected);
});

const withReceivers = (confirm: ConfirmWrite) =>
  createReceiverStore({ redis, confirmWrite: confirm, keyspace: stores.keyspace });
const withClaims = (confirm: ConfirmWrite) =>
  createClaimStore({ redis, confirmWrite: confirm, now: Date.now, leaseMs: 60_000, keepMs: 60_000 });
const withKeys = (confirm: ConfirmWrite) => createApiKeyStore({ redis, confirmWrite: confirm, now: Date.now });
const newRequest = () => ({ apiKeyId: 'key_1', method: 'POST', path: '/tasks/', idempotencyKey: newWorkspaceId() });

/** Each on a receiver that its workspace holds, with a confirmation of one's choice. */
const changes: readonly (readonly [string, ConfirmWrite, (confirm: ConfirmWrite) => Promise<unknown>])[] = [
  [
    'a change of a receiver',
    confirmAfterLoss,
    async (confirm) => {
      const { workspaceId, id } = await register();
      return await withReceivers(confirm).patch(workspaceId, id, { description: 'new' }, 1);
    },
  ],
  [
    'a removal of a receiver',
    confirmAfterLoss,
    async (confirm) => {
      const { workspaceId, id } = await register();
      return await withReceivers(confirm).remove(workspaceId, id, 1);
    },
  ],
  [
    'a registration that found the receiver there',
    confirmAfterLoss,
    async (confirm) => await withReceivers(confirm).register(await register(), 'encrypted.again'),
  ],
  ['a claim', confirmAfterLoss, async (confirm) => (await withClaims(confirm).claim(newRequest(), 'body')).kind],
  ['a new API key', confirmAfterLoss, async (confirm) => await withKeys(confirm).create({ scopes: ['execute'] })],
  [
    'a revocation',
    confirmAfterReturn,
    async (confirm) => {
      const { record } = await withKeys(confirmWrite).create({ scopes: ['execute'] });
      return await withKeys(confirm).revoke(record.id);
    },
  ],
];

async function register() {
  const receiver = buildReceiver(newWorkspaceId());
  await withReceivers(confirmWrite).register(receiver, 'encrypted.secret');
  return receiver;
}

test.each(changes)('%s is acknowledged where it is, and not by a server without it', async (_, elsewhere, change) => {
  expect(await change(confirmWrite)).not.toBe(false);
  await expect(change(elsewhere)).rejects.toThrow(UnavailableError);
});

test('a claim that is not confirmed is free at once, with the seed that it got', async () => {
  const request = newRequest();
  const seeds = [];
  const refuse: ConfirmWrite = () => Promise.resolve(false);
  await expect(withClaims(refuse).claim(request, 'body')).rejects.toThrow(UnavailableError);
  for (const store of [withClaims(confirmWrite), withClaims(refuse), withClaims(confirmWrite)]) {
    const reply = await store.claim(request, 'body').catch(() => undefined);
    if (reply?.kind === 'claimed') {
      seeds.push(reply.claim.seed);
      await reply.claim.giveBack('perhaps');
    }
  }
  expect(seeds).toHaveLength(2);
  expect(seeds[0]).toEqual(seeds[1]);
});

test('a revocation that is not confirmed can be asked for again', async () => {
  const { key, record } = await withKeys(confirmWrite).create({ scopes: ['execute'] });
  await expect(withKeys(() => Promise.resolve(false)).revoke(record.id)).rejects.toThrow(UnavailableError);
  expect(await withKeys(confirmWrite).find(key)).toBeUndefined();
  expect(await withKeys(confirmWrite).revoke(record.id)).toBe(true);
});
