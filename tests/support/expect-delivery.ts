import { DONE, START } from './reports.ts';
import type { Herald } from './start-herald.ts';
import { factsAt } from './webhooks.ts';

/** A service works: the end of a Task arrives at a receiver, once. */
export async function expectDelivery(herald: Herald): Promise<void> {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START, DONE);
  await herald.settled();
  expect(factsAt(receiver)).toEqual([`${task.id} task.done`]);
}
