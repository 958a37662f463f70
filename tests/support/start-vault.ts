import { createGenerationStore } from '@herald/store/key-versions/generation-store';
import { createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { createSealedSecretStore, type SealedSecretStore } from '@herald/store/secrets/sealed-secret-store';
import { createSecretBox, type SecretBox } from '@herald/store/secrets/secret-box';
import { createTaskRetention } from '@herald/store/tasks/task-retention';
import { createTaskStore } from '@herald/store/tasks/task-store';
import { createKeyspace } from '@herald/store/keyspace/keys';
import { joinGenerations } from '@herald/store/secrets/join-generations';
import { resealSecrets } from '@herald/store/secrets/reseal-secrets';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { callbackIdOf, newSigningSecret, type Endpoint } from '@herald/core';
import { randomBytes } from 'node:crypto';
import { buildReceiver, buildTask, newWorkspaceId, startStores } from './start-stores.ts';

const DAY_MS = 86_400_000;

export type Vault = Awaited<ReturnType<typeof startVault>>;

export function newSecretsKey(): Buffer {
  return randomBytes(32);
}

/** Sealed secrets in Redis as processes with different lists of keys have them, and no process. */
export async function startVault(shardCount = 1) {
  const stores = await startStores(shardCount);
  const { redis } = stores;
  const keyspace = createKeyspace(shardCount);
  const createAll = (client: RedisClient) => ({
    receivers: createReceiverStore({ redis: client, keyspace }),
    tasks: createTaskStore({ redis: client, keyspace, retention: createTaskRetention(30 * DAY_MS) }),
    generations: createGenerationStore({ redis: client, keyspace }),
    secrets: createSealedSecretStore({ redis: client, keyspace }),
  });
  const all = createAll(redis);
  const boxOf = (...keys: readonly [Buffer, ...Buffer[]]) => createSecretBox(keys);
  const endpoints = new Map<string, { endpoint: Endpoint; secrets: string[] }>();
  return {
    ...stores,
    ...all,
    keyspace,
    boxOf,
    nameOf: (key: Buffer) => boxOf(key).fingerprints[0],
    start: (box: SecretBox, seals: boolean) => joinGenerations({ redis, keyspace, box, seals }),
    async register(box: SecretBox, workspaceId = newWorkspaceId()) {
      const endpoint = buildReceiver(workspaceId);
      const secret = newSigningSecret();
      await all.receivers.register(endpoint, box.seal(secret, endpoint.id));
      endpoints.set(endpoint.id, { endpoint, secrets: [secret] });
      return endpoint;
    },
    async createCallback(box: SecretBox) {
      const task = buildTask(newWorkspaceId());
      const endpoint = buildReceiver(task.workspaceId, { id: callbackIdOf(task.id) });
      const secret = newSigningSecret();
      await all.tasks.create(
        { ...task, callback: endpoint },
        { endpoint, sealedSecret: box.seal(secret, endpoint.id) },
      );
      endpoints.set(endpoint.id, { endpoint, secrets: [secret] });
      return endpoint;
    },
    /** A new secret beside the old one. */
    async rotate(box: SecretBox, { workspaceId, id }: Endpoint) {
      const secret = newSigningSecret();
      const now = Date.now();
      await all.receivers.rotateSecret(workspaceId, id, box.seal(secret, id), now + 60_000, now);
      endpoints.get(id)?.secrets.unshift(secret);
    },
    /** What an endpoint's secrets open to: the current one, then the one before it. */
    async openAll(box: SecretBox, { workspaceId, id }: Endpoint) {
      const sealed = await redis.hmget(keyspace.of(workspaceId).endpoint(id), 'sec', 'sec2');
      return sealed.filter((text) => text !== null).map((text) => box.open(text, id));
    },
    secretsOf: ({ id }: Endpoint) => endpoints.get(id)?.secrets ?? [],
    reseal: (box: SecretBox, secrets: SealedSecretStore = all.secrets) =>
      resealSecrets({ generations: all.generations, secrets, box, onProgress: () => undefined }),
    countsOf: async () => (await all.generations.list()).map(({ fingerprint, count }) => [fingerprint, count] as const),
  };
}
