import { newReplayId } from '@herald/core';
import { groupOfLane, laneOf } from '@herald/queue';
import type { EndpointPatch } from '@herald/store/endpoints/endpoint-patch';
import { createFindDestinations } from '@herald/store/endpoints/find-destinations';
import { randomBytes } from 'node:crypto';
import { findFaults } from '../queue/read-queue.ts';
import { range, startEngine, type Engine, type Receiver } from './start-engine.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await startEngine();
});
afterEach(() => engine[Symbol.asyncDispose]());

const NOW = Date.now();
const OTHER_URL = 'https://second.example.com/in';

/** A receiver with a rate, and with pending deliveries. */
async function prepare(count: number, perSecond: number | 'any' = 10) {
  const receiver = await engine.register(perSecond === 'any' ? {} : { rateLimit: { perSecond } });
  const ids: string[] = [];
  for (const index of range(count)) ids.push(await engine.acceptOne(receiver, NOW + index));
  const { workspaceId, id, destination } = receiver;
  const find = async (): Promise<Receiver> => {
    const found = await engine.stores.receivers.find(workspaceId, id);
    if (!found) throw new Error('it is there');
    return found;
  };
  return {
    receiver,
    ids,
    destination,
    lane: laneOf(destination, 10, id),
    find,
    patch: (change: EndpointPatch, now = NOW) => engine.stores.receivers.patch(workspaceId, id, change, now),
    /** A worker's look at what must move or end. */
    async purge(mark = id) {
      const ended = [];
      for await (const step of engine.worker.purges.purge(mark, NOW)) ended.push(...step);
      return ended;
    },
    take: async (now: number) => (await engine.worker.reserve(now, 100)).map((job) => job.id),
    redeliver: (index: number, now: number) => engine.log.redeliver(workspaceId, ids[index] ?? '', now),
  };
}

async function expectSound(): Promise<void> {
  expect(await findFaults({ redis: engine.redis, keys: engine.keys.queue })).toEqual([]);
}

test('what a receiver with a rate gets waits in its lane, and counts for its destination', async () => {
  const { receiver, ids, lane, destination, take } = await prepare(12);
  expect(receiver).toMatchObject({ rateLimit: { perSecond: 10 }, group: lane, destination: groupOfLane(lane) });
  expect(await engine.waitingFor(lane)).toEqual(ids);
  expect(await take(NOW + 50)).toEqual(ids.slice(0, 10));
  const [first = ''] = ids;
  expect((await engine.load(first)).destination).toBe(destination);
  await engine.record(first, { now: NOW + 60, answered: false, verdict: { kind: 'retry', at: NOW + 30_000 } });
  expect(await engine.waitingFor(lane)).toEqual([...ids.slice(10), first]);
  expect(await engine.redis.hmget(engine.keys.queue.group(destination), 'fails', 'n')).toEqual(['1', '9']);
  expect(await engine.redis.exists(engine.keys.queue.group(lane))).toBe(0);
  await expectSound();
});

test.each<{
  readonly to: string;
  readonly before: number | 'any';
  readonly change: EndpointPatch;
  readonly rate?: number;
}>([
  { to: 'none', before: 10, change: { rateLimit: null } },
  { to: 'another one', before: 10, change: { rateLimit: { perSecond: 500 } }, rate: 500 },
  { to: 'a first one', before: 'any', change: { rateLimit: { perSecond: 7 } }, rate: 7 },
  { to: 'that of another url', before: 10, change: { url: OTHER_URL }, rate: 10 },
  { to: 'none at another url', before: 10, change: { url: OTHER_URL, rateLimit: null } },
])('a change of the rate to $to moves what waits, and loses nothing', async ({ before, change, rate }) => {
  const set = await prepare(5, before);
  await set.redeliver(4, NOW);
  await set.patch(change);
  const changed = await set.find();
  expect(changed.rateLimit).toEqual(rate === undefined ? undefined : { perSecond: rate });
  expect(changed.destination === set.destination).toBe(change.url === undefined);
  expect(changed.group).toBe(
    rate === undefined ? changed.destination : laneOf(changed.destination, rate, set.receiver.id),
  );
  expect(await engine.worker.purges.claim(NOW, NOW + 60_000, 10)).toEqual([set.receiver.id]);
  expect(await set.purge()).toEqual([]);
  const waitingFor = async (group: string) => (await engine.waitingFor(group)).filter((id) => id.startsWith('dlv_'));
  expect(await waitingFor(changed.group)).toEqual([set.ids[4], ...set.ids.slice(0, 4)]);
  expect(await waitingFor(set.receiver.group)).toEqual([]);
  await expectSound();
});

test('a change that leaves rate and url as they are moves nothing', async () => {
  const { patch } = await prepare(1);
  await patch({ rateLimit: { perSecond: 10 }, description: 'the same' });
  expect(await engine.worker.purges.claim(NOW, NOW + 60_000, 10)).toEqual([]);
});

describe('several changes before a worker has looked', () => {
  /** A delivery waits in each of four places, the last of which is the present one. */
  async function prepareChanges() {
    const set = await prepare(1);
    const ids = [...set.ids];
    for (const change of [{ rateLimit: null }, { url: OTHER_URL }, { rateLimit: { perSecond: 3 } }]) {
      await set.patch(change);
      ids.push(await engine.acceptOne(await set.find(), NOW + ids.length));
    }
    return { ...set, ids, present: (await set.find()).group };
  }

  test('strand nothing', async () => {
    const { ids, present, purge } = await prepareChanges();
    expect(await engine.waitingFor(present)).toEqual(ids.slice(3));
    expect(await purge()).toEqual([]);
    expect(await engine.waitingFor(present)).toEqual(ids);
    await expectSound();
  });

  test('double nothing, when a delivery is redelivered in between', async () => {
    const { ids, receiver, present, purge } = await prepareChanges();
    for (const id of ids) await engine.log.redeliver(receiver.workspaceId, id, NOW);
    expect([...(await engine.waitingFor(present))].sort()).toEqual([...ids].sort());
    await expectSound();
    await purge();
    await expectSound();
    expect((await engine.worker.reserve(NOW, 100)).map(({ id }) => id).sort()).toEqual([...ids].sort());
  });

  test('double nothing, when a delivery that ended without its lease, and so waits in a former place, is replayed', async () => {
    const { receiver, ids, patch } = await prepare(1);
    await engine.worker.deliveries.giveUp(ids[0] ?? '', NOW);
    await patch({ rateLimit: null });
    const replay = { id: 'rpl_1', endpointId: receiver.id, since: NOW - 1, until: NOW + 1, createdAt: NOW };
    await engine.replays.create(receiver.workspaceId, { ...replay, statuses: ['failed'] });
    expect(await engine.worker.steps.step('rpl_1', NOW + 1)).toMatchObject({ replayed: 1 });
    await expectSound();
    expect(await engine.waitingFor(receiver.destination)).toEqual(ids);
  });

  test('leave nothing behind when the receiver is then disabled or removed', async () => {
    const disabled = await prepareChanges();
    await disabled.patch({ enabled: false });
    expect((await disabled.purge()).map(({ reason }) => reason)).toEqual(Array(4).fill('receiver_disabled'));
    await expectSound();
    const removed = await prepareChanges();
    await engine.stores.receivers.remove(removed.receiver.workspaceId, removed.receiver.id, NOW + 1);
    const marks = await engine.worker.purges.claim(NOW + 1, NOW + 60_000, 10);
    for (const mark of marks.filter((each) => each.startsWith(removed.receiver.id))) await removed.purge(mark);
    expect(await Promise.all(removed.ids.map(engine.statusOf))).toEqual(Array(4).fill('canceled'));
    await expectSound();
    const left = await engine.redis.keys(`${engine.keys.prefix}q:*`);
    expect(left).toEqual([]);
  });

  test('remember eight places at most', async () => {
    const { receiver, patch, find } = await prepare(0);
    for (const index of range(20)) await patch({ rateLimit: { perSecond: 1 + (index % 12) } });
    const former = (await engine.redis.hget(engine.keys.endpoint(receiver.id), 'dstWas'))?.split('|') ?? [];
    expect(former).toEqual([7, 6, 5, 4, 3, 2, 1, 12].map((rate) => laneOf(receiver.destination, rate, receiver.id)));
    expect((await find()).group).toBe(laneOf(receiver.destination, 8, receiver.id));
  });
});

test('a probe of a lane that gets no answer doubles the wait for the next', async () => {
  const { ids, destination } = await prepare(7);
  const retry = { answered: false, verdict: { kind: 'retry', at: NOW + 3_600_000 } } as const;
  for (const id of ids.slice(0, 5)) await engine.record(id, { now: NOW + 10, ...retry });
  const state = () => engine.redis.hmget(engine.keys.queue.group(destination), 'open', 'wait', 'n');
  expect(await state()).toEqual(['1', '5000', '0']);
  const at = NOW + 10_000;
  const [probe, ...others] = await engine.worker.reserve(at);
  expect([probe?.isProbe, others]).toEqual([true, []]);
  await engine.record(probe?.id ?? '', { now: at, isProbe: true, ...retry });
  expect(await state()).toEqual(['1', '10000', '0']);
});

test('a redelivery waits for no token, and a replay goes on while its own lane has room', async () => {
  const { receiver, ids, lane, destination, take, redeliver } = await prepare(11);
  expect(await take(NOW + 20)).toHaveLength(10);
  for (const id of ids.slice(0, 10)) await engine.settle(id, NOW + 30, 'failed');
  expect(await take(NOW + 30)).toEqual([]);
  await redeliver(10, NOW + 30);
  expect(await take(NOW + 30)).toEqual([ids[10]]);
  await engine.settle(ids[10] ?? '', NOW + 30, 'failed');
  const replayId = newReplayId(randomBytes(12));
  const created = { since: NOW - 1, until: NOW + 100, statuses: ['failed'] as const, createdAt: NOW };
  await engine.replays.create(receiver.workspaceId, { id: replayId, endpointId: receiver.id, ...created });
  // Others of the destination have more waiting than a replay would wait for.
  const waiting = range(600).flatMap((index) => [2e13 + NOW + 60_000, `other${index}`]);
  await engine.redis.zadd(engine.keys.queue.waiting(destination), ...waiting);
  expect(await engine.worker.steps.step(replayId, NOW + 40)).toEqual({ kind: 'ended', replayed: 11 });
  expect(await engine.waitingFor(lane)).toHaveLength(11);
});

test('a receiver’s waiting for its rate is found with the state of its destination', async () => {
  const { receiver, take } = await prepare(15);
  const neighbour = await engine.register({ workspaceId: receiver.workspaceId });
  const now = NOW + 20;
  const find = createFindDestinations({ redis: engine.redis, keyspace: engine.stores.keyspace, now: () => now });
  await take(now);
  const [limited, free] = await find([receiver, neighbour]);
  expect(limited).toMatchObject({ group: receiver.destination, due: 5, waitingForRate: 5 });
  expect(free).toMatchObject({ group: receiver.destination, due: 5 });
  expect(free).not.toHaveProperty('waitingForRate');
});
