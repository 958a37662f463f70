import { setImmediate as nextRound } from 'node:timers/promises';
import { whenIdle } from './when-idle.ts';

test('it calls back only when no client has commands that wait, and in that very moment', async () => {
  const clients = [{ autoPipelineQueueSize: 0 }, { autoPipelineQueueSize: 2 }];
  let called = false;
  const result = whenIdle(clients, () => {
    called = true;
    return clients.map(({ autoPipelineQueueSize }) => autoPipelineQueueSize);
  });
  await nextRound();
  await nextRound();
  expect(called).toBe(false);
  clients[1] = { autoPipelineQueueSize: 0 };
  expect(await result).toEqual([0, 0]);
});
