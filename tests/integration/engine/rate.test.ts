import { newReplayId } from '@herald/core';
import type { EndpointPatch } from '@herald/store/endpoints/endpoint-patch';
import { createFindGroups } from '@herald/store/endpoints/receiver-store';
import { randomBytes } from 'node:crypto';
import { findFaults } from '../queue/read-queue.ts';
import { range, startEngine, type Engine } from './start-engine.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await startEngine();
});
afterEach(() => engine[Symbol.asyncDispose]());

const NOW = Date.now();

/** A receiver with a rate, and with pending deliveries. */
async function prepare(count: number, perSecond = 10) {
  const receiver = await engine.register({ rateLimit: { perSecond } });
  const ids: string[] = [];
  for (const index of range(count)) ids.push(await engine.acceptOne(receiver, NOW + index));
  const { workspaceId, id, group } = receiver;
  return {
    receiver,
    ids,
    group,
    patch: (change: EndpointPatch, now = NOW) => engine.stores.receivers.patch(workspaceId, id, change, now),
    take: async (now: number) => (await engine.worker.reserve(now, 100)).map((job) => job.id),
    redeliver: (index: number, now: number) => engine.log.redeliver(workspaceId, ids[index] ?? '', now),
  };
}

async function expectSound(): Promise<void> {
  expect(await findFaults({ redis: engine.redis, keys: engine.keys.queue })).toEqual([]);
}

test('a receiver gets no more than its rate, whatever its neighbour at the same host gets', async () => {
  const { receiver, ids, group, take } = await prepare(12);
  const neighbour = await engine.register({ workspaceId: receiver.workspaceId });
  const other = await engine.acceptOne(neighbour, NOW);
  expect((await take(NOW + 50)).sort()).toEqual([...ids.slice(0, 10), other].sort());
  const [first = ''] = ids;
  await engine.record(first, { now: NOW + 60, answered: false, verdict: { kind: 'retry', at: NOW + 30_000 } });
  expect(await engine.waitingFor(group)).toEqual([...ids.slice(10), first]);
  expect(await engine.redis.hmget(engine.keys.queue.group(group), 'fails', 'n')).toEqual(['1', '9']);
  await expectSound();
});

test.each<[string, EndpointPatch, number]>([
  ['none', { rateLimit: null }, 5],
  ['a higher one', { rateLimit: { perSecond: 30 } }, 3],
  ['a lower one', { rateLimit: { perSecond: 1 } }, 0],
])('a change of the rate to %s counts from the next token on, and moves nothing', async (_, change, most) => {
  const { ids, group, take, patch } = await prepare(15);
  // More than one worker has, so that no limit but the rate counts.
  expect(await take(NOW + 50)).toHaveLength(10);
  for (const id of ids.slice(0, 10)) await engine.settle(id, NOW + 60, 'delivered');
  await patch(change);
  expect(await engine.worker.purges.claim(NOW, NOW + 60_000, 10)).toEqual({ due: 0, ids: [] });
  expect(await engine.waitingFor(group)).toEqual(ids.slice(10));
  expect(await take(NOW + 150)).toHaveLength(most);
  await expectSound();
});

test('a redelivery waits for no token, and a replay goes on while its own group has room', async () => {
  const { receiver, ids, group, take, redeliver } = await prepare(11);
  expect(await take(NOW + 20)).toHaveLength(10);
  for (const id of ids.slice(0, 10)) await engine.settle(id, NOW + 30, 'failed');
  expect(await take(NOW + 30)).toEqual([]);
  await redeliver(10, NOW + 30);
  expect(await take(NOW + 30)).toEqual([ids[10]]);
  // It stands beside the schedule: the delivery still waits.
  await engine.settle(ids[10] ?? '', NOW + 30, 'failed');
  const replayId = newReplayId(randomBytes(12));
  const created = { since: NOW - 1, until: NOW + 100, statuses: ['failed'] as const, createdAt: NOW };
  await engine.replays.create(receiver.workspaceId, { id: replayId, endpointId: receiver.id, ...created });
  expect(await engine.worker.steps.step(replayId, NOW + 40)).toEqual({ kind: 'ended', replayed: 10 });
  expect(await engine.waitingFor(group)).toHaveLength(11);
});

test('a receiver’s waiting for its rate is found, and its neighbour’s is none', async () => {
  const { receiver, take } = await prepare(15);
  const neighbour = await engine.register({ workspaceId: receiver.workspaceId });
  const now = NOW + 20;
  const find = createFindGroups({ redis: engine.redis, keyspace: engine.stores.keyspace, now: () => now });
  await take(now);
  const [limited, free] = await find([receiver, neighbour]);
  expect(limited).toMatchObject({ group: receiver.id, due: 5, waitingForRate: 5 });
  expect(free).toBeUndefined();
});
