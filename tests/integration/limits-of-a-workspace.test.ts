import { RECEIVER_LIMIT } from '@herald/core';
import { API_KEY_LIMIT, createApiKeyStore, type NewApiKey } from '@herald/store/access/api-key-store';
import { BINDING_LIMIT, createBindingStore } from '@herald/store/access/binding-store';
import { createPortalLinkStore, PORTAL_LINK_LIMIT } from '@herald/store/access/portal-link-store';
import { GLOBAL_KEYS } from '@herald/store/keys/keys';
import { createListenerStore, LISTENER_LIMIT } from '@herald/store/listening/listeners';
import { buildReceiver, newWorkspaceId, startStores, type Stores } from '../support/start-stores.ts';

const HOUR_MS = 3_600_000;

let stores: Stores;
/** What time it is for the stores. */
const clock = { ahead: 0 };
const now = () => Date.now() + clock.ahead;
beforeAll(async () => {
  stores = await startStores(3);
});
beforeEach(() => {
  clock.ahead = 0;
});
afterAll(() => stores[Symbol.asyncDispose]());

function createProcess({ redis, receivers }: Stores['second']) {
  const { keyspace } = stores;
  return {
    receivers,
    apiKeys: createApiKeyStore({ redis, now }),
    bindings: createBindingStore({ redis, keyspace, now }),
    portalLinks: createPortalLinkStore({ redis, keyspace, now }),
    listeners: createListenerStore({ redis, keyspace }),
  };
}
type Process = ReturnType<typeof createProcess>;
const processes = () => [createProcess(stores), createProcess(stores.second)] as const;

const linkOf = (workspaceId: string) => ({
  workspaceId,
  readOnly: true,
  lifeMs: HOUR_MS,
  madeBy: { operator: 'olga' },
});
const keyOf = (workspaceId: string) => ({ workspaceId, scopes: ['tasks'] as const });

type Limited = readonly [
  what: string,
  limit: number,
  make: (process: Process, workspaceId: string, name: string) => Promise<unknown>,
];
const LIMITED: readonly Limited[] = [
  ['API keys', API_KEY_LIMIT, ({ apiKeys }, workspaceId) => apiKeys.createLimited(keyOf(workspaceId))],
  ['bindings', BINDING_LIMIT, ({ bindings }, workspaceId, name) => bindings.bind(workspaceId, name)],
  ["operators' links", PORTAL_LINK_LIMIT, ({ portalLinks }, workspaceId) => portalLinks.create(linkOf(workspaceId))],
  [
    'receivers',
    RECEIVER_LIMIT,
    ({ receivers }, workspaceId) => receivers.register(buildReceiver(workspaceId), 'encrypted.secret'),
  ],
  ['listeners', LISTENER_LIMIT, ({ listeners }, workspaceId, name) => listeners.hold(workspaceId, name, now())],
];

test.each(LIMITED)('of %s a workspace gets %i, over all processes, also when more come at once', async (...limited) => {
  const [, limit, make] = limited;
  const workspaceId = newWorkspaceId();
  const made = await Promise.all(
    processes().flatMap((process, which) =>
      Array.from({ length: limit }, (_, index) => make(process, workspaceId, `ws_${which}-${index}`)),
    ),
  );
  expect(made.filter((each) => each !== 'full')).toHaveLength(limit);
  // Those of another count apart, also where the one name begins with the other.
  expect(await make(createProcess(stores), `${workspaceId}-2`, 'ws_another')).not.toBe('full');
});

test('the keys of the command line count, have no limit themselves, and leave their places when they are revoked', async () => {
  const [{ apiKeys }] = processes();
  const workspaceId = newWorkspaceId();
  const made = await Promise.all(Array.from({ length: API_KEY_LIMIT + 1 }, () => apiKeys.create(keyOf(workspaceId))));
  expect(await apiKeys.createLimited(keyOf(workspaceId))).toBe('full');
  await apiKeys.revoke(made[0]?.record.id ?? '');
  expect(await apiKeys.createLimited(keyOf(workspaceId))).toBe('full');
  await apiKeys.revoke(made[1]?.record.id ?? '');
  expect(await apiKeys.createLimited(keyOf(workspaceId))).toMatchObject({ record: { workspaceId } });
  expect(await apiKeys.listOf(workspaceId)).toHaveLength(API_KEY_LIMIT);
});

test('the keys that have expired leave their places to as many, also when more come at once', async () => {
  const both = processes();
  const [{ apiKeys }] = both;
  const workspaceId = newWorkspaceId();
  const expiring = { ...keyOf(workspaceId), expiresAt: now() + HOUR_MS };
  await Promise.all(
    Array.from({ length: API_KEY_LIMIT }, (_, index) => apiKeys.create(index < 5 ? expiring : keyOf(workspaceId))),
  );
  clock.ahead = HOUR_MS + 1;
  const made = await Promise.all(
    both.flatMap((each) => Array.from({ length: 5 }, () => each.apiKeys.createLimited(keyOf(workspaceId)))),
  );
  expect(made.filter((each) => each !== 'full')).toHaveLength(5);
  expect(await apiKeys.listOf(workspaceId)).toHaveLength(API_KEY_LIMIT);
});

/** Who keys are for. */
const KEYS_FOR: readonly [string, () => Pick<NewApiKey, 'workspaceId' | 'scopes'>][] = [
  ['a workspace', () => keyOf(newWorkspaceId())],
  ['an executor', () => ({ scopes: ['execute'] })],
  ['a platform', () => ({ scopes: ['platform'] })],
];

test.each(KEYS_FOR)('nothing stays of a key for %s that has expired when another is made', async (_for, ask) => {
  const [{ apiKeys }] = processes();
  const asked = ask();
  const entries = async () => (await stores.redis.zrange(GLOBAL_KEYS.apiKeysOfWorkspaces, 0, '-1')).join();
  const [expired, valid] = await Promise.all([
    apiKeys.create({ ...asked, expiresAt: now() + HOUR_MS }),
    apiKeys.create(asked),
  ]);
  clock.ahead = HOUR_MS + 1;
  const making = await apiKeys.create(asked);
  const lookUp = (await stores.redis.hget(GLOBAL_KEYS.apiKeyIndex, making.record.id)) ?? '';
  await stores.redis.del(GLOBAL_KEYS.apiKey(lookUp));
  await apiKeys.create(asked);
  const ids = [expired, valid, making].map(({ record }) => record.id);
  const isThere = (await stores.redis.hmget(GLOBAL_KEYS.apiKeyIndex, ...ids)).map((each) => each !== null);
  expect(isThere).toEqual([false, true, true]);
  const listed = await entries();
  expect(ids.map((id) => listed.includes(id))).toEqual([false, true, true]);
  // Nor of one that is revoked.
  await apiKeys.revoke(valid.record.id);
  expect(await entries()).not.toContain(valid.record.id);
});

test('a key whose making stood still for minutes can be revoked', async () => {
  const [{ apiKeys }, second] = processes();
  const workspaceId = newWorkspaceId();
  const standsStill = Object.create(stores.redis, {
    hset: {
      async value(name: string, ...args: [string, string]) {
        if (name.startsWith(GLOBAL_KEYS.apiKey(''))) {
          clock.ahead = HOUR_MS;
          await second.apiKeys.dropEnded(workspaceId);
        }
        return await stores.redis.hset(name, ...args);
      },
    },
  }) as typeof stores.redis;
  const { key, record } = await createApiKeyStore({ redis: standsStill, now }).create(keyOf(workspaceId));
  expect(await apiKeys.find(key)).toMatchObject({ id: record.id });
  expect(await apiKeys.revoke(record.id)).toBeDefined();
  expect(await apiKeys.find(key)).toBeUndefined();
});

test('the links of a key that ended leave their places to as many, also when more come at once', async () => {
  const both = processes();
  const [{ apiKeys, portalLinks }] = both;
  const workspaceId = newWorkspaceId();
  const { record } = await apiKeys.create(keyOf(workspaceId));
  await Promise.all(
    Array.from({ length: PORTAL_LINK_LIMIT }, () => portalLinks.create({ ...linkOf(workspaceId), madeBy: record })),
  );
  await apiKeys.revoke(record.id);
  const { record: madeBy } = await apiKeys.create(keyOf(workspaceId));
  const made = await Promise.all(
    both.flatMap((each) =>
      Array.from({ length: 10 }, () => each.portalLinks.create({ ...linkOf(workspaceId), madeBy })),
    ),
  );
  expect(made.filter((each) => each === 'full')).toEqual([]);
});

test('the links of operators and those of the tenant keep each other from no place', async () => {
  const [{ apiKeys, portalLinks }, second] = processes();
  const workspaceId = newWorkspaceId();
  const { record: madeBy } = await apiKeys.create(keyOf(workspaceId));
  const asked = [{ ...linkOf(workspaceId), madeBy }, linkOf(workspaceId)];
  for (const each of asked) {
    const made = await Promise.all(Array.from({ length: PORTAL_LINK_LIMIT }, () => portalLinks.create(each)));
    expect(made).not.toContain('full');
    expect(await second.portalLinks.create(each)).toBe('full');
  }
  const listed = await portalLinks.list(workspaceId);
  expect(listed).toHaveLength(2 * PORTAL_LINK_LIMIT);
  // Whose link ends, his place is free.
  await portalLinks.revoke(workspaceId, listed.find(({ operator }) => operator !== undefined)?.id ?? '');
  expect(await Promise.all(asked.map((each) => second.portalLinks.create(each)))).toEqual([
    'full',
    expect.objectContaining({ link: expect.objectContaining({ operator: 'olga' }) as unknown }),
  ]);
});

test('a binding that is there stays as it is, also in a workspace that has as many as it may', async () => {
  const [{ bindings }, second] = processes();
  const workspaceId = newWorkspaceId();
  const [first] = await Promise.all(
    Array.from({ length: BINDING_LIMIT }, (_, index) => bindings.bind(workspaceId, `ws_${index}`)),
  );
  clock.ahead = 1_000;
  expect(await second.bindings.bind(workspaceId, 'ws_one-more')).toBe('full');
  expect(await second.bindings.bind(workspaceId, 'ws_0')).toEqual(first);
  await bindings.unbind(workspaceId, 'ws_1');
  expect(await second.bindings.bind(workspaceId, 'ws_one-more')).toMatchObject({ executionWorkspaceId: 'ws_one-more' });
});
