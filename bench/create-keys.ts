import { closeRedis, connectRedis, createApiKeyStore } from '@herald/infra';

export type BenchKeys = {
  readonly executorKey: string;
  /** By workspace id. */
  readonly workspaceKeys: ReadonlyMap<string, string>;
};

/** API keys as the CLI makes them. */
export async function createKeys(redisUrl: string, workspaceIds: readonly string[]): Promise<BenchKeys> {
  const redis = await connectRedis({
    target: { kind: 'single', url: redisUrl },
    use: 'request',
    name: 'herald-bench',
    onError: () => undefined,
  });
  try {
    const store = createApiKeyStore({ redis, now: Date.now });
    const workspaceKeys = new Map<string, string>();
    for (const workspaceId of workspaceIds) {
      const { key } = await store.create({ workspaceId, scopes: ['webhooks', 'tasks'] });
      workspaceKeys.set(workspaceId, key);
    }
    const { key: executorKey } = await store.create({ scopes: ['execute'] });
    return { executorKey, workspaceKeys };
  } finally {
    await closeRedis(redis);
  }
}
