import { createKeyVersionStore } from '@herald/store/secrets/key-version-store';
import { createReceiverStore } from '@herald/store/endpoints/receiver-store';
import {
  createEncryptedSecretStore,
  reencryptSecrets,
  registerKeyVersion,
  type EncryptedSecretStore,
} from '@herald/store/secrets/reencrypt-secrets';
import {
  createSealHeaders,
  createSecretCipher,
  openHeaders,
  type SecretCipher,
} from '@herald/store/secrets/secret-cipher';
import { createTaskRetention } from '@herald/store/tasks/task-record';
import { createTaskStore } from '@herald/store/tasks/task-store';
import { createKeyspace } from '@herald/store/keys/keys';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { callbackIdOf, newSigningSecret, type Endpoint } from '@herald/core';
import { randomBytes } from 'node:crypto';
import { buildReceiver, buildTask, newWorkspaceId, startStores } from './start-stores.ts';

const DAY_MS = 86_400_000;

export type Vault = Awaited<ReturnType<typeof startVault>>;

export function newSecretsKey(): Buffer {
  return randomBytes(32);
}

/** Encrypted secrets in Redis as processes with different lists of keys have them, and no process. */
export async function startVault(shardCount = 1) {
  const stores = await startStores(shardCount);
  const { redis } = stores;
  const keyspace = createKeyspace(shardCount);
  const createAll = (client: RedisClient) => ({
    receivers: createReceiverStore({ redis: client, keyspace }),
    tasks: createTaskStore({ redis: client, keyspace, retention: createTaskRetention(30 * DAY_MS) }),
    keyVersions: createKeyVersionStore({ redis: client, keyspace }),
    secrets: createEncryptedSecretStore({ redis: client, keyspace }),
  });
  const all = createAll(redis);
  const cipherOf = (...keys: readonly [Buffer, ...Buffer[]]) => createSecretCipher(keys);
  const endpoints = new Map<string, { endpoint: Endpoint; secrets: string[] }>();
  return {
    ...stores,
    ...all,
    keyspace,
    cipherOf,
    nameOf: (key: Buffer) => cipherOf(key).fingerprints[0],
    start: (cipher: SecretCipher, encrypts: boolean) => registerKeyVersion({ redis, keyspace, cipher, encrypts }),
    async register(cipher: SecretCipher, workspaceId = newWorkspaceId()) {
      const endpoint = buildReceiver(workspaceId);
      const secret = newSigningSecret();
      await all.receivers.register(endpoint, cipher.encrypt(secret, endpoint.id));
      endpoints.set(endpoint.id, { endpoint, secrets: [secret] });
      return endpoint;
    },
    async createCallback(cipher: SecretCipher) {
      const task = buildTask(newWorkspaceId());
      const endpoint = buildReceiver(task.workspaceId, { id: callbackIdOf(task.id) });
      const secret = newSigningSecret();
      await all.tasks.create(
        { ...task, callback: endpoint },
        { endpoint, encryptedSecret: cipher.encrypt(secret, endpoint.id) },
      );
      endpoints.set(endpoint.id, { endpoint, secrets: [secret] });
      return endpoint;
    },
    /** A new secret beside the old one. */
    async rotate(cipher: SecretCipher, { workspaceId, id }: Endpoint) {
      const secret = newSigningSecret();
      const now = Date.now();
      await all.receivers.rotateSecret(workspaceId, id, cipher.encrypt(secret, id), now + 60_000, now);
      endpoints.get(id)?.secrets.unshift(secret);
    },
    /** Gives a receiver headers of its own. */
    giveHeaders: (cipher: SecretCipher, { workspaceId, id }: Endpoint, headers: Record<string, string>) =>
      all.receivers.patch(workspaceId, id, { headers: createSealHeaders(cipher.encrypt)(headers, id) }, Date.now()),
    async decryptHeaders(cipher: SecretCipher, { workspaceId, id }: Endpoint) {
      const { encryptedHeaders = '' } = (await all.receivers.find(workspaceId, id)) ?? {};
      return openHeaders(cipher.decrypt, encryptedHeaders, id);
    },
    /** An endpoint's secrets, decrypted: the current one, then the one before it. */
    async decryptAll(cipher: SecretCipher, { workspaceId, id }: Endpoint) {
      const encrypted = await redis.hmget(keyspace.of(workspaceId).endpoint(id), 'sec', 'sec2');
      return encrypted.filter((text) => text !== null).map((text) => cipher.decrypt(text, id));
    },
    secretsOf: ({ id }: Endpoint) => endpoints.get(id)?.secrets ?? [],
    reencrypt: (cipher: SecretCipher, secrets: EncryptedSecretStore = all.secrets) =>
      reencryptSecrets({ keyVersions: all.keyVersions, secrets, cipher, onProgress: () => undefined }),
    countsOf: async () => (await all.keyVersions.list()).map(({ fingerprint, count }) => [fingerprint, count] as const),
  };
}
