import { createKeyVersionStore } from '@herald/store/secrets/key-version-store';
import { createKeyspace } from '@herald/store/keys/keys';
import {
  createEncryptedSecretStore,
  forgetKeyVersion,
  reencryptSecrets,
  type EncryptedSecretStore,
} from '@herald/store/secrets/reencrypt-secrets';
import { newSecretsKey, startVault, type Vault } from '../../support/start-vault.ts';
import { dumpRedis } from '../../support/redis-dump.ts';

const [oldKey, newKey] = [newSecretsKey(), newSecretsKey()];

async function startAged(shardCount = 1) {
  const vault = await startVault(shardCount);
  const [before, after] = [vault.cipherOf(oldKey), vault.cipherOf(newKey, oldKey)];
  await vault.start(before, true);
  return { ...vault, before, after };
}

/** Something that happens between the moment a secret was read and the moment it is replaced, once per endpoint. */
function interrupted(vault: Vault, act: (endpointId: string) => Promise<unknown>): EncryptedSecretStore {
  const done = new Set<string>();
  return {
    walk: vault.secrets.walk,
    async replace(secret, ...rest) {
      if (!done.has(secret.endpointId)) {
        done.add(secret.endpointId);
        await act(secret.endpointId);
      }
      return await vault.secrets.replace(secret, ...rest);
    },
  };
}

test('every secret is re-encrypted with the first key, in every shard: of receivers, of callbacks, of both sides of a rotation', async () => {
  await using vault = await startAged(3);
  const { before, after } = vault;
  const endpoints = await Promise.all(Array.from({ length: 40 }, () => vault.register(before)));
  endpoints.push(...(await Promise.all(Array.from({ length: 20 }, () => vault.createCallback(before)))));
  for (const endpoint of endpoints.slice(0, 15)) await vault.rotate(before, endpoint);
  await vault.start(after, true);

  const report = await vault.reencrypt(after);
  expect(report).toEqual({
    key: vault.nameOf(newKey),
    moved: 75,
    inPlace: 75,
    unopenable: [],
    inUse: [],
    forgotten: [vault.nameOf(oldKey)],
  });
  const onlyNew = vault.cipherOf(newKey);
  for (const endpoint of endpoints)
    expect(await vault.decryptAll(onlyNew, endpoint)).toEqual(vault.secretsOf(endpoint));
  await vault.start(onlyNew, true);
  await expect(vault.start(before, true)).rejects.toThrow(vault.nameOf(newKey));
});

test('the headers of an endpoint are re-encrypted beside its secret, and keep their key registered until then', async () => {
  await using vault = await startAged();
  const { before, after } = vault;
  const receiver = await vault.register(before);
  await vault.giveHeaders(before, receiver, { authorization: 'Bearer canary' });
  await vault.start(after, true);
  // The secret alone is rotated: what the old key still decrypts are the headers.
  await vault.rotate(after, receiver);
  await vault.redis.hdel(vault.keys.endpoint(receiver.id), 'sec2', 'sec2To');
  const lost = { ...vault, cipher: vault.cipherOf(newKey) };
  await expect(vault.start(lost.cipher, true)).rejects.toThrow(vault.nameOf(oldKey));

  expect(await vault.reencrypt(after)).toMatchObject({ moved: 1, inPlace: 2, forgotten: [vault.nameOf(oldKey)] });
  await vault.start(lost.cipher, true);
  expect(await vault.decryptHeaders(lost.cipher, receiver)).toEqual({ authorization: 'Bearer canary' });
  expect(await vault.receivers.find(receiver.workspaceId, receiver.id)).toMatchObject({
    headerNames: ['authorization'],
  });
});

test('headers that are given between the reading and the replacement win', async () => {
  await using vault = await startAged();
  const { before, after } = vault;
  const receiver = await vault.register(before);
  await vault.giveHeaders(before, receiver, { authorization: 'old' });
  await vault.start(after, true);
  const report = await vault.reencrypt(
    after,
    interrupted(vault, () => vault.giveHeaders(before, receiver, { 'x-tenant': 'new' })),
  );
  expect(report).toMatchObject({ unopenable: [], inUse: [], forgotten: [vault.nameOf(oldKey)] });
  expect(await vault.decryptHeaders(vault.cipherOf(newKey), receiver)).toEqual({ 'x-tenant': 'new' });
});

test('a second run finds nothing to do and changes nothing, and an endpoint’s other fields and its end stay as they were', async () => {
  await using vault = await startAged();
  const { before, after } = vault;
  const callback = await vault.createCallback(before);
  const key = vault.keys.endpoint(callback.id);
  const read = async () => {
    const { sec: _encrypted, ...fields } = await vault.redis.hgetall(key);
    return { fields, endsAt: Math.round((await vault.redis.pexpiretime(key)) / 1_000) };
  };
  const untouched = await read();
  await vault.start(after, true);
  await vault.reencrypt(after);
  expect(await read()).toEqual(untouched);
  const dump = await dumpRedis(vault.redis);
  expect(await vault.reencrypt(after)).toMatchObject({ moved: 0, inPlace: 1, forgotten: [] });
  expect(await dumpRedis(vault.redis)).toEqual(dump);
});

test('a rotation between the reading and the replacement wins, and both of its secrets end under the first key', async () => {
  await using vault = await startAged();
  const { before, after } = vault;
  const receivers = await Promise.all(Array.from({ length: 10 }, () => vault.register(before)));
  await vault.start(after, true);
  const byId = new Map(receivers.map((receiver) => [receiver.id, receiver]));
  // One API still has the old key first: what it encrypts is re-encrypted as well.
  const report = await vault.reencrypt(
    after,
    interrupted(vault, async (id) => {
      const receiver = byId.get(id);
      if (receiver) await vault.rotate(receivers.indexOf(receiver) % 2 ? before : after, receiver);
    }),
  );
  expect(report).toMatchObject({ unopenable: [], inUse: [], forgotten: [vault.nameOf(oldKey)] });
  for (const receiver of receivers) {
    expect(vault.secretsOf(receiver)).toHaveLength(2);
    expect(await vault.decryptAll(vault.cipherOf(newKey), receiver)).toEqual(vault.secretsOf(receiver));
  }
});

test('a receiver that is removed between the reading and the replacement stays removed', async () => {
  await using vault = await startAged();
  const { before, after } = vault;
  const receivers = await Promise.all(Array.from({ length: 10 }, () => vault.register(before)));
  await vault.start(after, true);
  const byId = new Map(receivers.map((receiver) => [receiver.id, receiver]));
  await vault.reencrypt(
    after,
    interrupted(vault, async (id) => {
      const receiver = byId.get(id);
      if (receiver) await vault.receivers.remove(receiver.workspaceId, id, Date.now());
    }),
  );
  for (const { id } of receivers) expect(await vault.redis.exists(vault.keys.endpoint(id))).toBe(0);
  expect(await vault.countsOf()).toEqual([[vault.nameOf(newKey), 0]]);
});

test('a run that dies halfway leaves every secret readable, and another run completes it', async () => {
  await using vault = await startAged();
  const { before, after } = vault;
  const receivers = await Promise.all(Array.from({ length: 30 }, () => vault.register(before)));
  await vault.start(after, true);
  let replacements = 0;
  const dying: EncryptedSecretStore = {
    walk: vault.secrets.walk,
    replace: (...args) => (++replacements > 12 ? Promise.reject(new Error('killed')) : vault.secrets.replace(...args)),
  };
  await expect(vault.reencrypt(after, dying)).rejects.toThrow('killed');
  for (const receiver of receivers) expect(await vault.decryptAll(after, receiver)).toEqual(vault.secretsOf(receiver));
  await expect(vault.start(vault.cipherOf(newKey), false)).rejects.toThrow(vault.nameOf(oldKey));
  expect(await vault.reencrypt(after)).toMatchObject({ moved: 18, inPlace: 30, forgotten: [vault.nameOf(oldKey)] });
});

test('two runs at the same time re-encrypt every secret once and lose none', async () => {
  await using vault = await startAged();
  const { before, after } = vault;
  const receivers = await Promise.all(Array.from({ length: 50 }, () => vault.register(before)));
  await vault.start(after, true);
  const [one, other] = await Promise.all([vault.reencrypt(after), vault.reencrypt(after)]);
  expect(one.moved + other.moved).toBe(50);
  for (const receiver of receivers) {
    expect(await vault.decryptAll(vault.cipherOf(newKey), receiver)).toEqual(vault.secretsOf(receiver));
  }
});

test('an API that goes on encrypting with the old key keeps that key registered, and the report says so', async () => {
  await using vault = await startAged();
  const { before, after } = vault;
  await vault.register(before);
  await vault.start(after, true);
  const busy: EncryptedSecretStore = {
    replace: vault.secrets.replace,
    async *walk() {
      yield* vault.secrets.walk();
      await vault.register(before); // behind the back of every round
    },
  };
  const report = await vault.reencrypt(after, busy);
  expect(report).toMatchObject({ inUse: [vault.nameOf(oldKey)], forgotten: [], unopenable: [] });
  await expect(vault.start(vault.cipherOf(newKey), false)).rejects.toThrow(vault.nameOf(oldKey));
  expect(await vault.reencrypt(after)).toMatchObject({ moved: 1, inUse: [], forgotten: [vault.nameOf(oldKey)] });
});

test('secrets that don’t decrypt are named, stay as they are, and keep their key registered; the others are re-encrypted', async () => {
  await using vault = await startAged();
  const { before, after } = vault;
  const lostKey = newSecretsKey();
  const lost = await vault.register(vault.cipherOf(lostKey));
  const damaged = await vault.register(before);
  await vault.redis.hset(vault.keys.endpoint(damaged.id), 'sec', before.encrypt('whsec_other', 'wh_other'));
  await vault.register(before);
  const encrypted = await vault.redis.hmget(vault.keys.endpoint(lost.id), 'sec');
  await vault.redis.hset(vault.keys.keyVersions, vault.nameOf(newKey), 0);

  const report = await vault.reencrypt(after);
  expect(report).toMatchObject({ moved: 1, forgotten: [], inUse: [] });
  expect([...report.unopenable].sort((a, b) => (a.endpointId < b.endpointId ? -1 : 1))).toEqual(
    [
      { endpointId: lost.id, key: vault.nameOf(lostKey) },
      { endpointId: damaged.id, key: vault.nameOf(oldKey) },
    ].sort((a, b) => (a.endpointId < b.endpointId ? -1 : 1)),
  );
  expect(await vault.redis.hmget(vault.keys.endpoint(lost.id), 'sec')).toEqual(encrypted);
});

test('a key that no API encrypts with is refused as the first one, and nothing is changed', async () => {
  await using vault = await startAged();
  const { before } = vault;
  await vault.register(before);
  const dump = await dumpRedis(vault.redis);
  await expect(vault.reencrypt(vault.cipherOf(newSecretsKey(), oldKey))).rejects.toMatchObject({
    name: 'ConfigError',
    message: expect.stringContaining('so nothing was changed') as string,
  });
  expect(await dumpRedis(vault.redis)).toEqual(dump);
  // Nor is one where nobody has started yet, so that nothing is known of keys.
  await vault.redis.del(vault.keys.keyVersions);
  await expect(vault.reencrypt(vault.cipherOf(newSecretsKey(), oldKey))).rejects.toThrow('so nothing was changed');
});

test('a key that an API was started with by mistake, and that encrypted nothing, is forgotten by a run with the right one', async () => {
  await using vault = await startAged();
  await expect(vault.start(vault.cipherOf(newKey), true)).rejects.toThrow('encrypted nothing');
  expect(await vault.reencrypt(vault.cipherOf(newKey))).toMatchObject({ moved: 0, forgotten: [vault.nameOf(oldKey)] });
  await vault.start(vault.cipherOf(newKey), true);
});

test('a lost key can be forgotten: processes start without it, and the endpoints whose secrets it encrypted are named', async () => {
  await using vault = await startAged(2);
  const { before } = vault;
  const left = vault.cipherOf(newKey);
  const withHeaders = await vault.register(left);
  await vault.giveHeaders(before, withHeaders, { authorization: 'x' });
  const endpoints = [await vault.register(before), await vault.createCallback(before), withHeaders];
  const lost = vault.nameOf(oldKey);
  expect(await forgetKeyVersion({ ...vault, cipher: before }, lost)).toEqual({ kind: 'listed', endpointIds: [] });
  const report = await forgetKeyVersion({ ...vault, cipher: left }, lost);
  expect(report.kind).toBe('forgotten');
  expect([...report.endpointIds].sort()).toEqual(endpoints.map(({ id }) => id).sort());
  await vault.start(left, true);
  expect(await forgetKeyVersion({ ...vault, cipher: left }, lost)).toEqual({ kind: 'unknown', endpointIds: [] });
});

test('a number of shards that is smaller than the data’s is refused before anything changes', async () => {
  await using vault = await startAged(4);
  const { before, after } = vault;
  for (let count = 0; count < 8; count++) await vault.register(before);
  await vault.start(after, true);
  const deps = { redis: vault.redis, keyspace: createKeyspace(1) };
  await expect(
    reencryptSecrets({
      keyVersions: createKeyVersionStore(deps),
      secrets: createEncryptedSecretStore(deps),
      cipher: after,
      onProgress: () => undefined,
    }),
  ).rejects.toThrow('SHARDS is smaller');
});
