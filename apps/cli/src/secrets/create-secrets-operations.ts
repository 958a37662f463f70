import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import { createGenerationStore } from '@herald/store/key-versions/generation-store';
import { createKeyspace } from '@herald/store/keyspace/keys';
import { createSealedSecretStore } from '@herald/store/secrets/sealed-secret-store';
import { createSecretBox } from '@herald/store/secrets/secret-box';
import { demandAccess } from '@herald/store/requirements/demand-usable-redis';
import { forgetGeneration } from '@herald/store/secrets/forget-generation';
import { resealSecrets } from '@herald/store/secrets/reseal-secrets';
import type { SecretsConfig } from '../context/config.ts';
import { refuseOtherShards } from '../context/open-herald.ts';
import type { SecretsOperations } from './secrets-command.ts';

/** The operations on sealed secrets, each with a connection of its own. */
export function createSecretsOperations(readConfig: () => SecretsConfig): SecretsOperations {
  const withStores = async <T>(use: (stores: ReturnType<typeof createStores>) => Promise<T>): Promise<T> => {
    const config = readConfig();
    const redis = await connectRedis({
      ...{ target: config.redis, use: 'request', name: 'herald-cli' },
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
    reseal: (onProgress) => withStores((stores) => resealSecrets({ ...stores, onProgress })),
    forget: (fingerprint) => withStores((stores) => forgetGeneration(stores, fingerprint)),
  };
}

function createStores(redis: Awaited<ReturnType<typeof connectRedis>>, { shardCount, secretsKeys }: SecretsConfig) {
  const keyspace = createKeyspace(shardCount);
  return {
    generations: createGenerationStore({ redis, keyspace }),
    secrets: createSealedSecretStore({ redis, keyspace }),
    box: createSecretBox(secretsKeys),
  };
}
