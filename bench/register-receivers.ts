import { newReceiverId, newSigningSecret, type Endpoint } from '@herald/core';
import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import { createKeyspace } from '@herald/store/keyspace/keys';
import { createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { createSecretCipher } from '@herald/store/secrets/secret-cipher';

const PER_WORKSPACE = 10;
const AT_A_TIME = 500;

/** Registers receivers of other workspaces directly in the store: by the API a hundred thousand would take minutes. */
export async function registerReceivers(redisUrl: string, secretsKey: string, count: number): Promise<void> {
  const redis = await connectRedis({
    target: { kind: 'single', url: redisUrl },
    use: 'background',
    name: 'herald-bench',
    onError: () => undefined,
  });
  try {
    const cipher = createSecretCipher([Buffer.from(secretsKey, 'base64')]);
    const store = createReceiverStore({ redis, keyspace: createKeyspace(1) });
    for (let start = 0; start < count; start += AT_A_TIME) {
      const some = Array.from({ length: Math.min(AT_A_TIME, count - start) }, (_, index) => start + index);
      await Promise.all(
        some
          .map(buildReceiver)
          .map((receiver) => store.register(receiver, cipher.encrypt(newSigningSecret(), receiver.id))),
      );
    }
  } finally {
    await closeRedis(redis);
  }
}

function buildReceiver(index: number): Endpoint {
  const workspaceId = `ws_other${Math.floor(index / PER_WORKSPACE)}`;
  const url = `https://receiver${index}.example.com/hook`;
  const createdAt = Date.now();
  return {
    id: newReceiverId(createdAt),
    workspaceId,
    url,
    events: [],
    description: '',
    enabled: true,
    createdAt,
  };
}
