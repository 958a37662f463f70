import { callbackIdOf, deliveryIdOf, newReplayId, newTestTransitionId } from '@herald/core';
import { randomBytes } from 'node:crypto';
import { createAuditFollower } from '@herald/store/access/audit-trail';
import { SEGMENT_ENTRIES } from '@herald/store/keys/segment-lua';
import { appendToLog, logEntriesFrom } from '../../support/append-to-log.ts';
import { createTaskOf } from '../../support/create-task-of.ts';
import { buildReceiver, buildTask } from '../../support/start-stores.ts';
import type { Data } from './start-data.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What is in a workspace, by what became of it. */
export type FilledWorkspace = Awaited<ReturnType<typeof fillWorkspace>>;

/** Everything that a workspace can have in Redis, in every state that matters to where it must lie. */
export async function fillWorkspace(data: Data, workspaceId: string, now: number) {
  const { stores, redis, keys, deliveries, log, replays } = data;
  const register = (name: string) => data.register(workspaceId, `https://${name}.example.com/in`);
  const [good, slow, off, gone, limited] = [
    await register('good'),
    await register('slow'),
    await register('off'),
    await register('gone'),
    await data.register(workspaceId, 'https://limited.example.com/in', { rateLimit: { perSecond: 10 } }),
  ];

  const waiting = await data.accept(good, now);
  const inWork = await data.accept(good, now);
  await data.takeIntoWork(inWork, good.group);
  const delayed = await data.accept(good, now);
  await data.retryAt(delayed, now + HOUR_MS, now);
  const failed = await data.accept(good, now);
  await deliveries.giveUp(failed, now);
  await redis.zadd(keys.settled, now, failed);
  await redis.set(keys.mover, 'a worker', 'PX', HOUR_MS);
  const redelivered = await data.accept(good, now);
  await deliveries.giveUp(redelivered, now);
  await log.redeliver(workspaceId, redelivered, now + 1_000);
  const replayed = await data.accept(good, now);
  await data.replay(replayed, now + 2_000);
  const retriedReplay = await data.accept(good, now);
  await data.replay(retriedReplay, now + 2_000);
  await data.retryAt(retriedReplay, now + 3_000, now);

  const breaker = { fails: 7, open: '1', wait: 20_000, probe: now + HOUR_MS, hold: now + 2 * HOUR_MS };
  await redis.hset(keys.queue.group(slow.group), { ...breaker, sus: now + HOUR_MS });
  const heldBack = await data.accept(slow, now);

  const inOrder = await data.register(workspaceId, 'https://in-order.example.com/in', { ordering: 'task' });
  const orderedTask = await createTaskOf(stores, workspaceId);
  const [first = '', second = ''] = await orderedTask.acceptMany(inOrder, 2, now);
  const ofLimited = await data.accept(limited, now);

  const toCallback = await data.acceptToCallback(workspaceId, now);
  const ofDisabled = await data.accept(off, now);
  await stores.receivers.patch(workspaceId, off.id, { enabled: false }, now);
  const ofRemoved = await data.accept(gone, now);
  // A segment, and one entry more.
  const logs = [keys.endpointLog(gone.id), keys.callbackLog(workspaceId)];
  for (const key of [...logs, keys.endedLog(keys.callbackLog(workspaceId), 'failed')]) {
    await appendToLog(redis, key, HOUR_MS, logEntriesFrom(now - SEGMENT_ENTRIES, SEGMENT_ENTRIES));
  }
  await stores.receivers.remove(workspaceId, gone.id, now);

  for (const key of [keys.endpointStats(good.id), keys.callbackStats(workspaceId)]) {
    // As long as counters of a minute are.
    await redis.set(key, `counters of ${workspaceId}`.padEnd(1_000), 'PX', HOUR_MS);
  }

  await redis.zadd(keys.listeners(workspaceId), now + HOUR_MS, 'lst_1');
  await data.bindings.bind(workspaceId, 'ws_bound');
  await data.portalLinks.create({ workspaceId, readOnly: true, lifeMs: HOUR_MS, madeBy: { operator: 'olga' } });

  const replayIds = [newReplayId(randomBytes(12)), newReplayId(randomBytes(12))] as const;
  for (const id of replayIds) {
    const range = { since: 0, until: now + 1, statuses: ['failed' as const], createdAt: now };
    await replays.create(workspaceId, { id, endpointId: good.id, ...range });
  }
  await replays.stop(workspaceId, replayIds[1], now);

  const task = buildTask(workspaceId, { createdAt: now, status: 'requires_action' });
  const callback = buildReceiver(workspaceId, { id: callbackIdOf(task.id), url: 'https://callback.example.com/' });
  await stores.tasks.create(task, { endpoint: callback, encryptedSecret: 'encrypted.callback' });
  await stores.tasks.addMessage(workspaceId, task.id, { id: 'm1', text: 'more', createdAt: now });
  const decision = { approvalId: 'pay', actionVersion: 1, decision: 'yes', decidedAt: now };
  await stores.tasks.resolve(task, decision, 'running');

  const createTest = async () => {
    const transitionId = newTestTransitionId();
    const deliveryId = deliveryIdOf(transitionId, good.id);
    const event = { transitionId, deliveryId, endpointId: good.id, workspaceId, body: '{}', createdAt: now };
    await stores.testEvents.create(event);
    return deliveryId;
  };
  const testEvent = await createTest();
  await deliveries.giveUp(await createTest(), now);
  const notice = await data.tell(workspaceId, now);

  await data.trail.add({ by: 'cli', user: 'ann', action: 'reshard' });
  for (const by of ['key_a', 'operator', 'key_a']) await data.trail.add({ by, workspaceId, action: 'changeReceiver' });
  // The log has most entries, the history none.
  await redis.set(keys.auditCopy('of a run that was killed'), '');
  const follower = createAuditFollower(data);
  await follower.advance('log', await follower.next('log', 3));
  return {
    workspaceId,
    now,
    good,
    slow,
    off,
    gone,
    inOrder,
    first,
    second,
    limited,
    taskId: task.id,
    replayIds,
    breaker,
    waiting,
    inWork,
    delayed,
    failed,
    redelivered,
    replayed,
    retriedReplay,
    heldBack,
    ofLimited,
    toCallback,
    ofDisabled,
    ofRemoved,
    testEvent,
    notice,
  };
}

/**
 * Where each delivery of a workspace must stand in the queue, by its id: its group, and its score there, 0 when it is urgent and due. Nothing
 * else may stand there.
 */
export function placesOf(filled: FilledWorkspace): Map<string, { group: string; score: number }> {
  const { now, good, slow, off } = filled;
  const [usual, background] = [1e13, 2e13];
  return new Map([
    [filled.waiting, { group: good.group, score: usual + now }],
    [filled.inWork, { group: good.group, score: usual + now }],
    [filled.delayed, { group: good.group, score: usual + now + HOUR_MS }],
    [filled.redelivered, { group: good.group, score: 0 }],
    [filled.replayed, { group: good.group, score: background + now + 2_000 }],
    [filled.retriedReplay, { group: good.group, score: usual + now + 3_000 }],
    [filled.heldBack, { group: slow.group, score: usual + now }],
    [filled.first, { group: filled.inOrder.group, score: usual + now }],
    [filled.second, { group: filled.inOrder.group, score: usual + now + DAY_MS }],
    [filled.ofLimited, { group: filled.limited.group, score: usual + now }],
    [filled.toCallback.id, { group: filled.toCallback.group, score: usual + now }],
    [filled.ofDisabled, { group: off.group, score: usual + now }],
    [filled.ofRemoved, { group: filled.gone.group, score: usual + now }],
    [filled.notice, { group: 'platform', score: usual + now }],
    [filled.testEvent, { group: '!tests', score: 0 }],
  ]);
}
