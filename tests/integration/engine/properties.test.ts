import fc from 'fast-check';
import { startModel, type Model } from './deliveries-model.ts';
import { steps, TASKS, wishes, type Step, type Wishes } from './delivery-steps.ts';
import { findBreaches, findEarly } from './find-order-breaches.ts';
import { range, startEngine, type Engine } from './start-engine.ts';
import { findAccountFaults } from '../every-script/find-harm.ts';
import { newWorkspaceId } from '../../support/start-stores.ts';
import { sized } from '../../support/sized.ts';

async function prepare(engine: Engine, asked: readonly Wishes[]): Promise<Model> {
  await engine.redis.flushdb();
  const workspaceId = newWorkspaceId();
  const receivers = await Promise.all(
    asked.map(({ host, isOrdered, timeoutMs, perSecond }, index) =>
      engine.register({
        workspaceId,
        url: `https://${host}.example.com/${index}`,
        orderingTimeoutMs: timeoutMs,
        ...(isOrdered && { ordering: 'task' }),
        ...(perSecond !== undefined && { rateLimit: { perSecond } }),
      }),
    ),
  );
  const tasks = await Promise.all(range(TASKS).map(() => engine.createTask(workspaceId)));
  return startModel(engine, receivers, tasks);
}

/** Delivers all that is left, as healthy receivers and workers would. */
async function deliverAll(engine: Engine, model: Model): Promise<void> {
  const { redis, keys } = engine;
  await model.recoverReceivers();
  const isOpen = async () => {
    const found = await Promise.all([...model.known.keys()].map((id) => redis.hmget(keys.delivery(id), 's', 'owe')));
    return model.underWay.size > 0 || found.some(([status, owed]) => status === 'pending' || owed !== null);
  };
  for (let turn = 0; await isOpen(); turn++) {
    expect(turn).toBeLessThan(1_000);
    await model.stepReplays();
    await model.doStep({ kind: 'recover' });
    const jobs = await model.doStep({ kind: 'reserve', worker: 0, room: 10 });
    expect(await findEarly(engine, model, jobs)).toEqual([]);
    while (model.isBusy()) await model.doStep({ kind: 'end', pick: 0, answer: 200 });
    expect(await findBreaches(engine, model)).toEqual([]);
    const [, lookAgainAt] = await redis.zrange(keys.queue.later, '0', '0', 'WITHSCORES');
    const [, leaseEndsAt] = await redis.zrange(keys.queue.leases, '0', '0', 'WITHSCORES');
    const next = Math.min(Number(lookAgainAt ?? Infinity), Number(leaseEndsAt ?? Infinity));
    if (jobs.length === 0 && Number.isFinite(next)) model.clock.now = Math.max(model.clock.now, next);
  }
}

test('whatever happens, events of a Task go in order or say that they were released, no rate is exceeded, no turn is missed, and all come to an end', async () => {
  await using engine = await startEngine();
  const run = async (asked: readonly Wishes[], taken: readonly Step[]): Promise<void> => {
    const model = await prepare(engine, asked);
    for (const step of taken) {
      expect(await findEarly(engine, model, await model.doStep(step))).toEqual([]);
      expect(await findBreaches(engine, model)).toEqual([]);
    }
    await deliverAll(engine, model);
    expect(await findAccountFaults(engine.redis, engine.keys)).toEqual([]);
  };
  await fc.assert(fc.asyncProperty(wishes, steps, run), {
    numRuns: sized(10, 30),
    plugins: [fc.interruptAfterTimeLimit(12_000)],
  });
}, 40_000);
