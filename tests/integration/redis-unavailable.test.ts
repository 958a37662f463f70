import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import { createAwaitReplication } from '@herald/store/redis/await-replication';
import { isRedisUnavailable } from '@herald/store/redis/refusal';
import { hasBlockedClient, startRedis, waitFor } from '@herald/test-kit';

const WAIT_MS = 4_000;

test('a Redis that dies between the first and the last reply of a pipeline is unavailable, and no bug of ours', async () => {
  await using server = await startRedis();
  const redis = await connectRedis({
    target: { kind: 'single', url: server.url },
    use: 'request',
    name: 'test',
    onError: () => undefined,
  });
  try {
    await redis.set('{tag}:proof', '1');
    const awaitReplication = createAwaitReplication({ redis, minReplicas: 1, withinMs: WAIT_MS });
    const thrown = awaitReplication({ key: '{tag}:proof' }).catch((error: unknown) => error);
    const isWaiting = () => hasBlockedClient(server.port);
    await waitFor('Redis to wait for replicas, having answered what comes before', isWaiting, WAIT_MS);
    await server.kill();
    const error = await thrown;
    expect(error).toBeInstanceOf(Error);
    expect({ error, isUnavailable: isRedisUnavailable(error) }).toMatchObject({ isUnavailable: true });
  } finally {
    await closeRedis(redis);
  }
});
