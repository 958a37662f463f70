import { createKeyspace } from '@herald/store/keys/keys';
import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import { findMaster } from '@herald/store/redis/find-master';
import { startMemoryGuard } from '@herald/store/stats/memory-guard';
import { createWorkspaceAccounts } from '@herald/store/stats/workspace-accounts';
import { waitFor } from '@herald/test-kit';
import { startTopology } from '../support/start-topology.ts';

/** So much that what connections take is little beside it. */
const FILLING = 32 * 1_024 * 1_024;
const DEADLINE_MS = 15_000;

test('a full master of a cluster refuses the workspaces that lie on it, and nobody else', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const { target } = cleanUp.use(await startTopology('cluster'));
  const redis = await connectRedis({ target, use: 'request', name: 'test', onError: () => undefined });
  cleanUp.defer(() => closeRedis(redis));
  const keyspace = createKeyspace(8);
  const [full] = keyspace.shards;
  const master = full && findMaster(redis, full.prefix);
  if (!master) throw new Error('each shard has a master');

  const names = Array.from({ length: 100 }, (_, index) => `ws_${index}`);
  const [large = '', small = ''] = names.filter((id) => keyspace.of(id) === full);
  const elsewhere = names.find((id) => findMaster(redis, keyspace.of(id).prefix) !== master) ?? '';
  for (const [id, bytes] of Object.entries({ [large]: 1_000, [small]: 10, [elsewhere]: 100_000 })) {
    await redis.zadd(keyspace.of(id).held, bytes, id);
  }
  // In one step: what is sent would stay in buffers for a while, and count as used.
  await redis.setrange(`${full.prefix}filling`, FILLING, 'x');
  const fillTo = async (share: number) => {
    const used = Number(/used_memory:(\d+)/.exec(await master.info('memory'))?.[1]);
    await master.config('SET', 'maxmemory', Math.round(used / share));
  };

  const accounts = createWorkspaceAccounts({ redis, keyspace, now: Date.now });
  const { findRefusal, stop } = startMemoryGuard({ redis, keyspace, accounts });
  cleanUp.defer(stop);
  const readRefusals = () => [large, small, elsewhere].map((id) => findRefusal(id)?.code);

  await fillTo(0.88);
  await waitFor('a workspace to be refused', () => findRefusal(large)?.code === 'workspace_full', DEADLINE_MS);
  expect(readRefusals()).toEqual(['workspace_full', undefined, undefined]);
  await fillTo(0.97);
  await waitFor('all on it to be refused', () => findRefusal(small)?.code === 'unavailable', DEADLINE_MS);
  expect(readRefusals()).toEqual(['unavailable', 'unavailable', undefined]);
  await fillTo(0.5);
  await waitFor('nobody to be refused', () => findRefusal(large) === undefined, DEADLINE_MS);
  expect(readRefusals()).toEqual([undefined, undefined, undefined]);
});
