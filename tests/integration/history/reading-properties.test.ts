import fc from 'fast-check';
import { newWorkspaceId } from '../../support/start-stores.ts';
import { range } from '../engine/start-engine.ts';
import { startHistoryModel } from './history-model.ts';
import { RECEIVERS, steps, TASKS, type Step } from './history-steps.ts';
import { startHistoryEngine } from './start-history-engine.ts';
import { sized } from '../../support/sized.ts';

test('whatever happens between Redis and history, each delivery is shown exactly once, as it is, and what was erased is nowhere', async () => {
  await using engine = await startHistoryEngine();
  const { history } = engine;
  const run = async (taken: readonly Step[]): Promise<void> => {
    await engine.redis.flushdb();
    await history.pool.query('TRUNCATE herald.deliveries, herald.transitions');
    const workspaceId = newWorkspaceId();
    const receivers = await Promise.all(
      range(RECEIVERS).map((index) => engine.register({ workspaceId, url: `https://h${index}.example.com/` })),
    );
    const tasks = await Promise.all(range(TASKS).map(() => engine.createTask(workspaceId)));
    const model = startHistoryModel(engine, receivers, tasks);
    for (const step of taken) await model.doStep(step);
    await model.finish();
    expect(engine.unavailable).toEqual([]);
  };
  await fc.assert(fc.asyncProperty(steps, run), {
    numRuns: sized(15, 60),
    plugins: [fc.interruptAfterTimeLimit(10_000)],
  });
}, 40_000);
