import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-retention';
import { createDeliveryStore } from '@herald/store/deliveries/delivery-store';
import { createPurgeStore } from '@herald/store/purges/purge-store';
import { startRedis } from '@herald/test-kit';
import { shardKeys } from '../../support/delivery-state.ts';

test('a script that is defined while answers are awaited is refused, rather than given somebody else’s answer', async () => {
  await using server = await startRedis();
  const redis = await connectRedis({
    target: { kind: 'single', url: server.url },
    use: 'background',
    name: 'test',
    onError: () => undefined,
  });
  const deps = { redis, keys: shardKeys(), retention: createDeliveryRetention(1) };
  const deliveries = createDeliveryStore(deps);
  const loaded = deliveries.load('dlv_a');
  const canceled = deliveries.cancel('dlv_a', 'body_lost', 1);
  // Within one tick, as everything is that the client sends together.
  expect(() => createPurgeStore(deps)).toThrow(/before the client is in use/);
  expect([await loaded, await canceled]).toEqual([{ kind: 'missing' }, { kind: 'missing' }]);
  await closeRedis(redis);
});
