import { createKeyVersionStore } from '@herald/store/secrets/key-version-store';
import { newSecretsKey, startVault } from '../../support/start-vault.ts';

const [oldKey, newKey] = [newSecretsKey(), newSecretsKey()];

test('an API registers the key that it encrypts with in every shard, a worker registers none', async () => {
  await using vault = await startVault(3);
  await vault.start(vault.cipherOf(oldKey), false);
  expect(await vault.countsOf()).toEqual([]);
  await vault.start(vault.cipherOf(oldKey, newKey), true);
  await vault.start(vault.cipherOf(oldKey), true);
  expect(await vault.countsOf()).toEqual(Array(3).fill([vault.nameOf(oldKey), 0]));
});

test('a process that lacks a key which an API encrypts with refuses to start, and changes nothing', async () => {
  await using vault = await startVault(2);
  await vault.start(vault.cipherOf(oldKey), true);
  for (const encrypts of [true, false]) {
    await expect(vault.start(vault.cipherOf(newKey), encrypts)).rejects.toMatchObject({
      name: 'ConfigError',
      message: expect.stringMatching(
        new RegExp(
          `^An API of this Redis encrypts with the key ${vault.nameOf(oldKey)}, which SECRETS_KEY doesn't list`,
        ),
      ) as string,
    });
  }
  expect(await vault.countsOf()).toEqual(Array(2).fill([vault.nameOf(oldKey), 0]));
  await vault.start(vault.cipherOf(newKey, oldKey), true);
});

test('of processes that start with different keys at once on an empty Redis, those of one key start', async () => {
  await using vault = await startVault(2);
  const keys = [newSecretsKey(), newSecretsKey(), newSecretsKey(), newSecretsKey()];
  const starts = await Promise.allSettled(keys.map((key) => vault.start(vault.cipherOf(key), true)));
  expect(starts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await vault.countsOf()).toHaveLength(2);
});

test('every new secret counts for the key that it is encrypted with: of a receiver, of a callback, of a rotation', async () => {
  await using vault = await startVault();
  const [before, after] = [vault.cipherOf(oldKey), vault.cipherOf(newKey, oldKey)];
  const receiver = await vault.register(before);
  const callback = await vault.createCallback(before);
  await vault.rotate(after, receiver);
  await vault.rotate(after, callback);
  await vault.createCallback(after);
  expect(Object.fromEntries(await vault.countsOf())).toEqual({
    [vault.nameOf(oldKey)]: 2,
    [vault.nameOf(newKey)]: 3,
  });
  await expect(vault.start(vault.cipherOf(newKey), false)).rejects.toThrow(
    `Secrets in this Redis are encrypted with the key ${vault.nameOf(oldKey)}, which SECRETS_KEY doesn't list; add that key`,
  );
});

test('headers count like a secret when they are given, and not when they are removed or another field changes', async () => {
  await using vault = await startVault();
  const [before, after] = [vault.cipherOf(oldKey), vault.cipherOf(newKey, oldKey)];
  const receiver = await vault.register(before);
  await vault.giveHeaders(after, receiver, { authorization: 'x' });
  const counts = { [vault.nameOf(oldKey)]: 1, [vault.nameOf(newKey)]: 1 };
  expect(Object.fromEntries(await vault.countsOf())).toEqual(counts);
  await vault.receivers.patch(receiver.workspaceId, receiver.id, { description: 'x' }, 1);
  await vault.giveHeaders(after, receiver, {});
  expect(Object.fromEntries(await vault.countsOf())).toEqual(counts);
});

test('a refused registration and a Task without a callback count for no key', async () => {
  await using vault = await startVault();
  const cipher = vault.cipherOf(oldKey);
  const { workspaceId } = await vault.register(cipher);
  for (let count = 0; count < 12; count++) await vault.register(cipher, workspaceId);
  expect(await vault.countsOf()).toEqual([[vault.nameOf(oldKey), 10]]);
});

test('secrets from before key versions were recorded are found by the first process that starts', async () => {
  await using vault = await startVault(2);
  for (let count = 0; count < 4; count++) await vault.register(vault.cipherOf(oldKey));
  await vault.rotate(vault.cipherOf(newKey), await vault.createCallback(vault.cipherOf(oldKey)));
  for (const keys of vault.keyspace.shards) await vault.redis.del(keys.keyVersions);
  await expect(vault.start(vault.cipherOf(newKey), true)).rejects.toThrow(
    `Secrets in this Redis are encrypted with the key ${vault.nameOf(oldKey)}`,
  );
  await vault.start(vault.cipherOf(oldKey, newKey), true);
  const counts = Map.groupBy(await vault.countsOf(), ([fingerprint]) => fingerprint);
  const sumOf = (key: Buffer) => (counts.get(vault.nameOf(key)) ?? []).reduce((sum, [, count]) => sum + count, 0);
  expect([sumOf(oldKey), sumOf(newKey)]).toEqual([5, 1]);
});

test('a key version is forgotten only as it was read: a secret encrypted with it meanwhile keeps it', async () => {
  await using vault = await startVault();
  const cipher = vault.cipherOf(oldKey);
  await vault.start(cipher, true);
  const [read] = await vault.keyVersions.list();
  if (!read) throw new Error('it was registered just now');
  await vault.register(cipher);
  expect(await vault.keyVersions.forget(read)).toBe('changed');
  const [again] = await createKeyVersionStore({ redis: vault.second.redis, keyspace: vault.keyspace }).list();
  expect(again).toMatchObject({ count: 1 });
  expect(await vault.keyVersions.forget(again ?? read)).toBe('forgotten');
  expect(await vault.keyVersions.list()).toEqual([]);
});

test('a key version that can’t be written is told of', async () => {
  await using vault = await startVault();
  const [keys] = vault.keyspace.shards;
  if (!keys) throw new Error('there is one');
  await vault.redis.set(keys.keyVersions, 'no hash');
  await expect(vault.keyVersions.add(keys, new Map([['a', 1]]))).rejects.toThrow('WRONGTYPE');
});
