import { callbackIdOf, deliveryIdOf, newReplayId, newTestTransitionId } from '@herald/core';
import { randomBytes } from 'node:crypto';
import { buildReceiver, buildTask } from '../../support/start-stores.ts';
import type { Engine } from '../engine/start-engine.ts';

const HOUR_MS = 3_600_000;

/** What is in a workspace, by what became of it. */
export type FilledWorkspace = Awaited<ReturnType<typeof fillWorkspace>>;

/** Everything that a workspace can have in Redis, in every state that matters to where it must lie. */
export async function fillWorkspace(engine: Engine, workspaceId: string, now: number) {
  const { stores, log, replays, queue, worker } = engine;
  const register = (name: string) => engine.register({ workspaceId, url: `https://${name}.example.com/in` });
  const [good, slow, off, gone] = [
    await register('good'),
    await register('slow'),
    await register('off'),
    await register('gone'),
  ];

  const waiting = await engine.acceptOne(good, now);
  const delayed = await engine.acceptOne(good, now);
  await engine.record(delayed, { now, verdict: { kind: 'retry', at: now + HOUR_MS } });
  await queue.add([{ id: delayed, event: 'task.done', dueAt: now + HOUR_MS }], now);
  const failed = await engine.acceptOne(good, now);
  await engine.settle(failed, now, 'failed');
  const redelivered = await engine.acceptOne(good, now);
  await engine.settle(redelivered, now, 'delivered');
  await log.redeliver(workspaceId, redelivered, now + 1_000);

  const inBacklog = await engine.acceptOne(slow, now);
  for (let tries = 0; tries < 5; tries++) {
    await engine.record(inBacklog, { now, verdict: { kind: 'retry', at: now }, answered: false });
  }
  await worker.backlog.put(inBacklog, slow.destination, now, false);

  const ofDisabled = await engine.acceptOne(off, now);
  await stores.receivers.patch(workspaceId, off.id, { enabled: false }, now);
  const ofRemoved = await engine.acceptOne(gone, now);
  await stores.receivers.remove(workspaceId, gone.id, now);

  const replayIds = [newReplayId(randomBytes(12)), newReplayId(randomBytes(12))] as const;
  for (const id of replayIds) {
    const range = { since: 0, until: now + 1, statuses: ['failed' as const], createdAt: now };
    await replays.create(workspaceId, { id, endpointId: good.id, ...range });
  }
  await replays.stop(workspaceId, replayIds[1], now);

  const task = buildTask(workspaceId, { createdAt: now, status: 'requires_action' });
  const callback = buildReceiver(workspaceId, { id: callbackIdOf(task.id), url: 'https://callback.example.com/' });
  await stores.tasks.create(task, { endpoint: callback, sealedSecret: 'sealed.callback' });
  await stores.tasks.addMessage(workspaceId, task.id, { id: 'm1', text: 'more', createdAt: now });
  const decision = { approvalId: 'pay', actionVersion: 1, decision: 'yes', decidedAt: now };
  await stores.tasks.resolve(task, decision, 'running');

  const transitionId = newTestTransitionId();
  const testEvent = deliveryIdOf(transitionId, good.id);
  await stores.testEvents.create({
    ...{ transitionId, deliveryId: testEvent, endpointId: good.id, workspaceId, body: '{}', createdAt: now },
  });
  return {
    ...{ workspaceId, good, slow, off, gone, taskId: task.id, replayIds },
    ...{ waiting, delayed, failed, redelivered, inBacklog, ofDisabled, ofRemoved, testEvent },
  };
}
