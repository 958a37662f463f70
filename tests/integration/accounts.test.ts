import { findAccountDifferences, mendAccounts } from '@herald/store/stats/recount-accounts';
import { startEngine, type Engine } from './engine/start-engine.ts';
import { findAccountFaults } from './every-script/find-harm.ts';
import { newWorkspaceId } from '../support/start-stores.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine[Symbol.asyncDispose]());

test('accounts that a failover has left wrong are mended beside others that write, and right ones stay', async () => {
  const { redis, keys, stores } = engine;
  const now = Date.now();
  const [wrong, busy] = [newWorkspaceId(), newWorkspaceId()];
  const accept = async (workspaceId: string, count: number) => {
    const receiver = await engine.register({ workspaceId, createdAt: now });
    const ids: string[] = [];
    for (let index = 0; index < count; index++) ids.push(await engine.acceptOne(receiver, now + index));
    return { receiver, ids };
  };
  await accept(wrong, 5);
  const { receiver, ids } = await accept(busy, 20);
  await redis.zincrby(keys.pending, -2, wrong);
  await redis.zincrby(keys.held, 10_000, wrong);
  const [at = ''] = await redis.hkeys(keys.workspaceLeaving(wrong));
  await redis.hincrby(keys.workspaceLeaving(wrong), at, 77);

  const deps = { redis, keyspace: stores.keyspace, now: () => now };
  const [differences] = await Promise.all([
    findAccountDifferences(deps),
    Promise.all(ids.map((id, index) => engine.settle(id, now + index, 'delivered'))),
    engine.acceptOne(receiver, now),
  ]);
  expect(differences).toEqual([
    expect.objectContaining({
      workspaceId: wrong,
      pending: { said: 3, lacks: 2 },
      bytes: expect.objectContaining({ lacks: -10_000 }) as object,
      leaving: new Map([[at, expect.objectContaining({ lacks: -77 }) as object]]),
    }),
  ]);
  await Promise.all([mendAccounts(deps, differences), engine.acceptOne(receiver, now + 1)]);
  expect(await findAccountFaults(redis, keys)).toEqual([]);
  // What is sent twice is mended once.
  await mendAccounts(deps, differences);
  expect(await findAccountFaults(redis, keys)).toEqual([]);
  expect(await findAccountDifferences(deps)).toEqual([]);
});
