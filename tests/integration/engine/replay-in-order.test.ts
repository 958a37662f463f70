import type { DeliveryId } from '@herald/core';
import { startEngine, type Engine, type Receiver } from './start-engine.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await startEngine();
});
afterEach(() => engine[Symbol.asyncDispose]());

const NOW = Date.now();
const LATER = NOW + 60_000;
const TIMEOUT_MS = 3_600_000;
const USUAL = 1e13;
const BACKGROUND = 2e13;

/** A Task whose events, so many, were accepted a second apart and have failed. */
async function prepare(count: number, more: Partial<Receiver> = { ordering: 'task', orderingTimeoutMs: TIMEOUT_MS }) {
  const receiver = await engine.register(more);
  const task = await engine.createTask(receiver.workspaceId);
  const ids: DeliveryId[] = [];
  for (let index = 0; index < count; index++) ids.push(...(await task.accept([receiver], NOW + 1_000 * index)));
  for (const id of ids) await engine.settle(id, NOW + 30_000, 'failed');
  let replays = 0;
  return {
    receiver,
    task,
    ids,
    findLine: () => engine.redis.zrange(engine.keys.line(receiver.id, task.id), '0', '-1'),
    /** Replays those accepted at these indexes. */
    async replay(from = 0, to = count, now = LATER) {
      const id = `rpl_${receiver.id}_${replays++}`;
      const range = { since: NOW + 1_000 * from, until: NOW + 1_000 * to, statuses: ['failed'] as const };
      await engine.replays.create(receiver.workspaceId, { id, endpointId: receiver.id, createdAt: now, ...range });
      let reply = await engine.worker.steps.step(id, now);
      while (reply.kind === 'stepped') reply = await engine.worker.steps.step(id, now);
      expect(reply.kind).toBe('ended');
    },
    async scoresOf(wanted: readonly DeliveryId[]) {
      const waiting = engine.keys.queue.waiting(receiver.group);
      const scores = await engine.redis.zmscore(waiting, ...wanted);
      return scores.map((score) => (score === null ? undefined : Number(score)));
    },
  };
}

/** Reserves and delivers until nothing is due; returns the ids in the order in which they went, two at once if need be. */
async function deliverAll(from: number): Promise<DeliveryId[][]> {
  const gone: DeliveryId[][] = [];
  for (let now = from; ; now++) {
    const jobs = await engine.worker.reserve(now);
    if (jobs.length === 0) return gone;
    gone.push(jobs.map(({ id }) => id));
    for (const { id } of jobs) await engine.settle(id, now, 'delivered');
  }
}

const one = (id: DeliveryId) => [id];

test('a replay keeps the order: each waits for the one before, behind what is live', async () => {
  const { ids, findLine, replay, scoresOf } = await prepare(4);
  await replay();
  expect(await findLine()).toEqual(ids);
  const waits = BACKGROUND + LATER + TIMEOUT_MS;
  expect(await scoresOf(ids)).toEqual([BACKGROUND + LATER, waits, waits, waits]);
  const [first = '', second = ''] = ids;
  await engine.settle(first, LATER + 1, 'failed');
  expect(await scoresOf([second])).toEqual([BACKGROUND + LATER + 1]);
  expect(await deliverAll(LATER + 1)).toEqual(ids.slice(1).map(one));
});

test('also of what was accepted before order was asked for', async () => {
  const { receiver, ids, findLine, replay } = await prepare(3, {});
  await engine.stores.receivers.patch(receiver.workspaceId, receiver.id, { ordering: 'task' }, NOW);
  await replay();
  expect(await findLine()).toEqual(ids);
  expect(await deliverAll(LATER)).toEqual(ids.map(one));
});

test('without order all go at once, also what was accepted in order, and nothing of that is left', async () => {
  const { receiver, ids, findLine, replay } = await prepare(3);
  await engine.redis.hset(engine.keys.delivery(ids[0] ?? ''), 'rel', '1');
  await engine.stores.receivers.patch(receiver.workspaceId, receiver.id, { ordering: 'none' }, NOW);
  await replay();
  expect(await findLine()).toEqual([]);
  expect((await engine.load(ids[0] ?? '')).delivery).not.toHaveProperty('isReleased');
  expect((await deliverAll(LATER)).flat().sort()).toEqual([...ids].sort());
});

test('one that was released begins anew: it waits for its turn, and says nothing of a release', async () => {
  const { ids, replay } = await prepare(2);
  const [, second = ''] = ids;
  await engine.redis.hset(engine.keys.delivery(second), 'rel', '1');
  await replay();
  expect(await deliverAll(LATER)).toEqual(ids.map(one));
  expect((await engine.load(second)).delivery).not.toHaveProperty('isReleased');
});

test('what is live waits for what is replayed before it', async () => {
  const { receiver, task, ids, replay } = await prepare(2);
  await replay();
  const [live = ''] = await task.accept([receiver], LATER);
  expect(await deliverAll(LATER)).toEqual([...ids, live].map(one));
});

test('one that waits untried as the first waits again behind an earlier one', async () => {
  const { receiver, task, ids, replay, scoresOf } = await prepare(2);
  const [live = ''] = await task.accept([receiver], LATER);
  await replay(0, 2, LATER + 5);
  expect(await scoresOf([live])).toEqual([USUAL + LATER + 5 + TIMEOUT_MS]);
  expect(await deliverAll(LATER + 5)).toEqual([...ids, live].map(one));
});

test('so does one of a replay, behind one of a later replay', async () => {
  const { ids, replay, scoresOf } = await prepare(3);
  const [, , third = ''] = ids;
  await replay(2, 3);
  await replay(0, 2, LATER + 5);
  expect(await scoresOf([third])).toEqual([BACKGROUND + LATER + 5 + TIMEOUT_MS]);
  expect(await deliverAll(LATER + 5)).toEqual(ids.map(one));
});

test.each(['is in work', 'has been tried', 'was asked for'])('but not one that %s', async (how) => {
  const { receiver, task, replay, scoresOf } = await prepare(2);
  const [live = ''] = await task.accept([receiver], LATER);
  const before = async () => [await engine.redis.hget(engine.keys.delivery(live), 'due'), await scoresOf([live])];
  if (how === 'is in work') await engine.leases.of(live, LATER);
  else if (how === 'was asked for') await engine.log.redeliver(receiver.workspaceId, live, LATER);
  else await engine.record(live, { now: LATER, verdict: { kind: 'retry', at: LATER + 5 }, answered: true });
  const known = await before();
  await replay(0, 2, LATER + 5);
  expect(await before()).toEqual(known);
});

test('a step with events of many Tasks lets the first of each go', async () => {
  const { receiver, ids, replay } = await prepare(3);
  const other = await engine.createTask(receiver.workspaceId);
  const others = await other.acceptMany(receiver, 2, NOW + 500);
  for (const id of others) await engine.settle(id, NOW + 30_000, 'failed');
  await replay();
  const [first = [], ...rest] = await deliverAll(LATER);
  expect([...first].sort()).toEqual([ids[0], others[0]].sort());
  expect(rest.map((each) => [...each].sort())).toEqual([[ids[1], others[1]].sort(), [ids[2]]]);
});

test('what waits for its turn doesn’t stop a replay: other Tasks go on', async () => {
  const { receiver, task, ids, replay } = await prepare(1);
  await task.acceptMany(receiver, 600, LATER);
  await replay(0, 1, LATER + 1);
  expect(await engine.statusOf(ids[0] ?? '')).toBe('pending');
});

test('one that is in work as a redelivery when it is replayed goes on as its record says', async () => {
  const { receiver, ids, replay } = await prepare(2);
  const [first = '', second = ''] = ids;
  await engine.log.redeliver(receiver.workspaceId, second, NOW + 40_000);
  const [job] = await engine.worker.reserve(NOW + 40_000);
  expect(job?.id).toBe(second);
  await replay();
  const lease = job?.handle ?? '';
  await engine.record(second, { now: LATER, lease, verdict: { kind: 'retry', at: LATER + 5 }, answered: true });
  expect(await deliverAll(LATER)).toEqual([expect.arrayContaining([first]), expect.arrayContaining([second])]);
});
