import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import { createKeyVersionStore } from '@herald/store/key-versions/key-version-store';
import { createKeyspace } from '@herald/store/keyspace/keys';
import { createEncryptedSecretStore } from '@herald/store/secrets/encrypted-secret-store';
import { createSecretCipher } from '@herald/store/secrets/secret-cipher';
import { demandAccess } from '@herald/store/requirements/demand-usable-redis';
import { forgetKeyVersion } from '@herald/store/secrets/forget-key-version';
import { reencryptSecrets } from '@herald/store/secrets/reencrypt-secrets';
import type { SecretsConfig } from '../context/config.ts';
import { refuseOtherShards } from '../context/open-herald.ts';
import type { SecretsOperations } from './secrets-command.ts';

/** The operations on encrypted secrets, each with a connection of its own. */
export function createSecretsOperations(readConfig: () => SecretsConfig): SecretsOperations {
  const withStores = async <T>(use: (stores: ReturnType<typeof createStores>) => Promise<T>): Promise<T> => {
    const config = readConfig();
    const redis = await connectRedis({
      target: config.redis,
      use: 'request',
      name: 'herald-cli',
      onError: () => undefined, // a lost connection shows in the command that needed it
    });
    try {
      await demandAccess(redis, { target: config.redis, minReplicas: 0, shardCount: config.shardCount });
      await refuseOtherShards(redis, config.shardCount);
      return await use(createStores(redis, config));
    } finally {
      await closeRedis(redis);
    }
  };
  return {
    reencrypt: (onProgress) => withStores((stores) => reencryptSecrets({ ...stores, onProgress })),
    forget: (fingerprint) => withStores((stores) => forgetKeyVersion(stores, fingerprint)),
  };
}

function createStores(redis: Awaited<ReturnType<typeof connectRedis>>, { shardCount, secretsKeys }: SecretsConfig) {
  const keyspace = createKeyspace(shardCount);
  return {
    keyVersions: createKeyVersionStore({ redis, keyspace }),
    secrets: createEncryptedSecretStore({ redis, keyspace }),
    cipher: createSecretCipher(secretsKeys),
  };
}
