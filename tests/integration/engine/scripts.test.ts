import { closeRedis, connectRedis, createBacklogStore, createPurgeStore, createDeliveryRetention } from '@herald/infra';
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
  const deps = { redis, keys: shardKeys() };
  const backlog = createBacklogStore(deps);
  const put = backlog.put('dlv_a', 'dst', 1, true);
  // Within one tick, as everything is that the client sends together.
  expect(() => createPurgeStore({ ...deps, retention: createDeliveryRetention(1) })).toThrow(
    /before the client is in use/,
  );
  const taken = backlog.take('dst', 2, 3, 1);
  await put;
  expect(await taken).toEqual({
    kind: 'taken',
    deliveries: [{ id: 'dlv_a', loaded: { kind: 'missing' } }],
    isProbe: false,
  });
  await closeRedis(redis);
});
