import { callbackIdOf, originOf, type Endpoint, type OwnHeaders } from '@herald/core';
import { createCallbackStore } from '@herald/store/endpoints/callback-store';
import type { EndpointPatch } from '@herald/store/endpoints/endpoint-patch';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import { createDeliveryReader } from '@herald/store/lists/delivery-reader';
import {
  createSealHeaders,
  createSecretCipher,
  openHeaders,
  UndecryptableSecretError,
} from '@herald/store/secrets/secret-cipher';
import { dumpRedis, toText } from '../support/redis-dump.ts';
import { buildReceiver, buildTask, newWorkspaceId, startStores, type Stores } from '../support/start-stores.ts';
import { newSecretsKey } from '../support/start-vault.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
});
afterAll(() => stores[Symbol.asyncDispose]());

const cipher = createSecretCipher([newSecretsKey()]);
const seal = createSealHeaders(cipher.encrypt);
const HOOK = 'https://hooks.example.com/in';
const GIVEN = { authorization: 'Bearer canary-7c1f', 'x-tenant': 'canary-4e2a' };

/** An endpoint of each kind with headers of its own, and how it is changed and read. */
async function createEndpoint(kind: 'receiver' | 'callback', headers: OwnHeaders = GIVEN) {
  const workspaceId = newWorkspaceId();
  const task = buildTask(workspaceId);
  const endpoint: Endpoint = buildReceiver(workspaceId, {
    url: HOOK,
    ...(kind === 'callback' && { id: callbackIdOf(task.id) }),
  });
  const encryptedSecret = cipher.encrypt('whsec_x', endpoint.id);
  const sealed = seal(headers, endpoint.id);
  if (kind === 'receiver') await stores.receivers.register(endpoint, encryptedSecret, sealed);
  else await stores.tasks.create({ ...task, callback: endpoint }, { endpoint, encryptedSecret, headers: sealed });
  const store = kind === 'receiver' ? stores.receivers : createCallbackStore(stores);
  return {
    ...endpoint,
    key: stores.keys.endpoint(endpoint.id),
    patch: async ({ headers: given, ...patch }: Omit<EndpointPatch, 'headers'> & { headers?: OwnHeaders }) => {
      const change = { ...patch, ...(given && { headers: seal(given, endpoint.id) }) };
      expect(await store.patch(workspaceId, endpoint.id, change, 5)).toBe(true);
    },
    read: async () => {
      const record = await store.find(workspaceId, endpoint.id);
      if (!record) throw new Error('it is there');
      return record;
    },
  };
}

/** The headers that a worker sends. */
const sentBy = ({ id, encryptedHeaders }: EndpointRecord) =>
  encryptedHeaders === undefined ? undefined : openHeaders(cipher.decrypt, encryptedHeaders, id);

describe.each(['receiver', 'callback'] as const)('the headers of a %s', (kind) => {
  test('count for the key that they are encrypted with, beside the secret, only when there are some', async () => {
    const count = async () => Number(await stores.redis.hget(stores.keys.keyVersions, cipher.fingerprints[0]));
    const before = await count();
    await createEndpoint(kind, {});
    expect(await count()).toBe(before + 1);
    await createEndpoint(kind);
    expect(await count()).toBe(before + 3);
  });

  test('are kept encrypted, with their names in clear', async () => {
    const endpoint = await createEndpoint(kind);
    const record = await endpoint.read();
    expect(record.headerNames).toEqual(['authorization', 'x-tenant']);
    expect(sentBy(record)).toEqual(GIVEN);
    const kept = toText(await dumpRedis(stores.redis));
    expect(kept).toContain('x-tenant');
    expect(kept).not.toContain('canary');
  });

  test.each<{ when: string; patch: Parameters<Awaited<ReturnType<typeof createEndpoint>>['patch']>[0]; sent?: object }>(
    [
      { when: 'another field changes', patch: { enabled: true, events: ['task.done'] }, sent: GIVEN },
      { when: 'its path changes', patch: { url: `${HOOK}/elsewhere?a=1` }, sent: GIVEN },
      { when: 'its url says the port that it had', patch: { url: 'https://hooks.example.com:443/in' }, sent: GIVEN },
      { when: 'its host changes', patch: { url: 'https://other.example.com/in' } },
      { when: 'its port changes', patch: { url: 'https://hooks.example.com:8443/in' } },
      { when: 'others replace them', patch: { headers: { 'x-new': '1' } }, sent: { 'x-new': '1' } },
      {
        when: 'its host changes and they are given again',
        patch: { url: 'https://other.example.com/in', headers: GIVEN },
        sent: GIVEN,
      },
      { when: 'they are removed', patch: { headers: {} } },
      { when: 'they are removed with another host', patch: { url: 'https://other.example.com/in', headers: {} } },
    ],
  )('after $when: $sent', async ({ patch, sent }) => {
    const endpoint = await createEndpoint(kind);
    await endpoint.patch(patch);
    const record = await endpoint.read();
    expect(sentBy(record)).toEqual(sent);
    expect(record.headerNames).toEqual(sent && Object.keys(sent));
    expect(await stores.redis.hexists(endpoint.key, 'hdr')).toBe(sent ? 1 : 0);
  });

  test('are given to one without any, and stay with the origin that it had then', async () => {
    const endpoint = await createEndpoint(kind, {});
    await endpoint.patch({ headers: {} });
    expect(await endpoint.read()).not.toHaveProperty('headerNames');
    await endpoint.patch({ url: 'https://other.example.com/in' });
    await endpoint.patch({ headers: GIVEN });
    expect(sentBy(await endpoint.read())).toEqual(GIVEN);
    await endpoint.patch({ url: HOOK });
    expect(await endpoint.read()).not.toHaveProperty('encryptedHeaders');
  });

  test('go nowhere else when an API of the former version changes the url, and the next change removes them', async () => {
    const endpoint = await createEndpoint(kind);
    const url = 'https://other.example.com/in';
    await stores.redis.hset(endpoint.key, { url, dst: originOf(endpoint.workspaceId, url) });
    const record = await endpoint.read();
    expect(record).not.toHaveProperty('encryptedHeaders');
    expect(record).not.toHaveProperty('headerNames');
    await endpoint.patch({ enabled: true });
    expect(await stores.redis.hmget(endpoint.key, 'hdr', 'hdrOf')).toEqual([null, null]);
  });

  test('don’t decrypt for another endpoint, nor in place of a secret', async () => {
    const [one, other] = [await createEndpoint(kind), await createEndpoint(kind)];
    const { encryptedHeaders = '', encryptedSecret } = await one.read();
    expect(() => openHeaders(cipher.decrypt, encryptedHeaders, other.id)).toThrow(UndecryptableSecretError);
    expect(() => openHeaders(cipher.decrypt, encryptedSecret, one.id)).toThrow(UndecryptableSecretError);
    expect(() => cipher.decrypt(encryptedHeaders, one.id)).toThrow(UndecryptableSecretError);
  });
});

test('what is sent of a delivery names the headers of its endpoint', async () => {
  const endpoint = await createEndpoint('receiver');
  const { readContent } = createDeliveryReader(stores);
  const delivery = {
    id: 'dlv_1',
    workspaceId: endpoint.workspaceId,
    endpointId: endpoint.id,
    transitionId: 'trn_1',
    event: 'task.done',
    status: 'pending',
    createdAt: 1,
    scheduledAt: 1,
    tries: 0,
    owedAttempts: 0,
  } as const;
  expect(await readContent(delivery)).toEqual({ url: HOOK, headerNames: ['authorization', 'x-tenant'] });
  await endpoint.patch({ url: 'https://other.example.com/in' });
  expect(await readContent(delivery)).toEqual({ url: 'https://other.example.com/in', urlChangedAt: 5 });
});

test('the hours of a receiver are kept, changed and removed', async () => {
  const workspaceId = newWorkspaceId();
  const receiver = buildReceiver(workspaceId, { maxRetryHours: 24 });
  await stores.receivers.register(receiver, 'encrypted');
  const hours = async () => (await stores.receivers.find(workspaceId, receiver.id))?.maxRetryHours;
  expect(await hours()).toBe(24);
  await stores.receivers.patch(workspaceId, receiver.id, { description: 'x' }, 1);
  expect(await hours()).toBe(24);
  await stores.receivers.patch(workspaceId, receiver.id, { maxRetryHours: 1 }, 1);
  expect(await hours()).toBe(1);
  await stores.receivers.patch(workspaceId, receiver.id, { maxRetryHours: null }, 1);
  expect(await stores.receivers.find(workspaceId, receiver.id)).not.toHaveProperty('maxRetryHours');
});
