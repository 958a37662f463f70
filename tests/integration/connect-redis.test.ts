import { closeRedis, connectRedis } from '@herald/infra';
import { startRedis, startRedisSentinels, waitFor } from '@herald/test-kit';

const NEVER_MS = 500;

test.each(['request', 'background'] as const)('a client for %s that ended by itself connects again', async (use) => {
  await using server = await startRedis();
  let reconnects = 0;
  const redis = await connectRedis({
    ...{ target: { kind: 'single', url: server.url }, use, name: 'test', onError: () => undefined },
    onReconnect: () => {
      reconnects++;
    },
  });
  redis.disconnect(); // as the client does to itself when it hears of a failover while it connects
  await waitFor('it to be back', () => reconnects === 1);
  expect(await redis.ping()).toBe('PONG');

  await closeRedis(redis);
  await new Promise((resolve) => setTimeout(resolve, NEVER_MS));
  expect(redis.status).toBe('end');
  expect(reconnects).toBe(1);
});

test('a client that hears of a failover just while it connects again is back at the new master', async () => {
  await using sentinels = await startRedisSentinels({});
  const redis = await connectRedis({
    target: {
      ...{ kind: 'sentinel', masterName: sentinels.masterName, database: 0, access: { usesTls: false } },
      sentinels: sentinels.ports.map((port) => ({ host: '127.0.0.1', port })),
    },
    ...{ use: 'request', name: 'test', onError: () => undefined },
  });
  const { connector } = redis as unknown as { connector: { disconnect(): void } };
  const hear = () => {
    connector.disconnect();
  };
  redis.once('connecting', () => setImmediate(hear));
  hear();
  const answers = () => redis.ping().catch(() => 'none');
  expect(await waitFor('an answer', answers, { until: (answer) => answer === 'PONG' })).toBe('PONG');
  await closeRedis(redis);
}, 60_000);
