import { deliveryIdOf, newTestTransitionId, type AttemptVerdict } from '@herald/core';
import { createLogger } from '@herald/runtime/log';
import { readAttempts } from '@herald/store/lists/delivery-reader';
import { findAccountFaults } from '../every-script/find-harm.ts';
import { findFaults } from '../queue/read-queue.ts';
import { runPurges } from '../../../apps/worker/src/maintenance.ts';
import { LEASE_MS } from '../../support/leases.ts';
import { LIMIT, range, RETENTION_MS, startEngine, type Engine, type Receiver } from './start-engine.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await startEngine();
});
afterEach(() => engine[Symbol.asyncDispose]());

const NOW = Date.now();
const DAY_MS = 86_400_000;
/** Too long for the record: the attempt lies in a list, which must leave with the record. */
const LONG_ANSWER = 'x'.repeat(65);
const retryAt = (at: number): AttemptVerdict => ({ kind: 'retry', at });

async function purgeAll(now: number): Promise<number> {
  let ended = 0;
  const { purges } = engine.worker;
  for (;;) {
    const { due, ids } = await purges.claim(now, now + 60_000, 100);
    if (due === 0) return ended;
    for (const id of ids) for await (const step of purges.purge(id, () => now)) ended += step.length;
  }
}

/** What must hold of every key of the engine at any time: above all, what is still to be sent is in the queue, once. */
async function expectConsistent(): Promise<void> {
  const { redis, keys } = engine;
  const idsOf = async (pattern: string) =>
    (await redis.keys(pattern)).filter((key) => !key.endsWith(':a')).map((key) => key.slice(key.indexOf(':') + 1));
  const unsettled = new Map<string, number>();
  for (const id of await idsOf(`${keys.prefix}dlv_*`)) {
    const { s, x = '', owe } = await redis.hgetall(keys.delivery(id));
    if (s === 'pending') unsettled.set(x, (unsettled.get(x) ?? 0) + 1);
    const lives = s === 'pending' || owe !== undefined;
    for (const key of [keys.delivery(id), keys.attempts(id)]) {
      if ((await redis.exists(key)) === 0) continue;
      expect({ id, s, owe, lives, isKept: (await redis.pttl(key)) === -1 }).toMatchObject({ isKept: lives });
    }
    expect({ id, isSeenTo: !lives || (await engine.leases.isQueued(id)) }).toEqual({ id, isSeenTo: true });
  }
  for (const id of await idsOf(`${keys.prefix}trn_*`)) {
    const open = Number(await redis.hget(keys.transition(id), 'open'));
    expect({ id, open }).toEqual({ id, open: unsettled.get(id) ?? 0 });
    // A redelivery keeps a settled one's body until it is made.
    const ttl = open > 0 ? await redis.pttl(keys.transition(id)) : -1;
    expect({ id, ttl }).toEqual({ id, ttl: -1 });
  }
  expect(await findFaults({ redis, keys: keys.queue })).toEqual([]);
  expect(await findAccountFaults(redis, keys)).toEqual([]);
}

/** Time to live of a delivery's record, its attempts and its body, in days; -1: for ever. */
async function daysLeft(id: string) {
  const x = (await engine.redis.hget(engine.keys.delivery(id), 'x')) ?? '';
  const ttls = await Promise.all(
    [engine.keys.delivery(id), engine.keys.attempts(id), engine.keys.transition(x)].map((key) =>
      engine.redis.pttl(key),
    ),
  );
  return ttls.map((ttl) => (ttl < 0 ? ttl : Math.round(ttl / DAY_MS)));
}

describe('what is settled leaves by itself, what is pending never', () => {
  beforeEach(() => {
    engine.answerWith(LONG_ANSWER);
  });

  const KEPT = [-1, -1, -1];
  const LEAVES = [7, 7, 7];

  test.each<{ end: string; make: (id: string, receiver: Receiver) => Promise<unknown>; left: number[] }>([
    { end: 'accepted', make: () => Promise.resolve(), left: [-1, -2, -1] },
    { end: 'delivered', make: (id) => engine.settle(id, NOW, 'delivered'), left: LEAVES },
    { end: 'failed', make: (id) => engine.settle(id, NOW, 'failed'), left: LEAVES },
    {
      end: 'to be tried again',
      make: (id) => engine.record(id, { now: NOW, verdict: retryAt(NOW + 1), answered: true }),
      left: KEPT,
    },
    {
      end: 'canceled after a try',
      make: async (id) => {
        await engine.record(id, { now: NOW, verdict: retryAt(NOW + 1), answered: true });
        await engine.worker.deliveries.cancel(id, 'receiver_removed', NOW);
      },
      left: LEAVES,
    },
    { end: 'given up without a try', make: (id) => engine.worker.deliveries.giveUp(id, NOW), left: [7, -2, 7] },
    {
      end: 'ended by a 410',
      make: (id) => engine.record(id, { now: NOW, verdict: retryAt(NOW), answered: true, gone: true }),
      left: LEAVES,
    },
    {
      end: 'purged',
      make: async (id, { workspaceId, id: endpointId }) => {
        await engine.record(id, { now: NOW, verdict: retryAt(NOW + 1), answered: true });
        await engine.stores.receivers.remove(workspaceId, endpointId, NOW);
        await purgeAll(NOW);
      },
      left: LEAVES,
    },
    {
      end: 'delivered, with a pending redelivery',
      make: async (id, { workspaceId }) => {
        await engine.settle(id, NOW, 'delivered');
        await engine.log.redeliver(workspaceId, id, NOW);
      },
      left: KEPT,
    },
    {
      end: 'delivered, and its redelivery failed',
      make: async (id, { workspaceId }) => {
        await engine.settle(id, NOW, 'delivered');
        await engine.log.redeliver(workspaceId, id, NOW);
        await engine.record(id, { now: NOW, verdict: retryAt(NOW + 1), answered: true });
      },
      left: LEAVES,
    },
    {
      end: 'failed, and its redelivery was delivered',
      make: async (id, { workspaceId }) => {
        await engine.settle(id, NOW, 'failed');
        await engine.log.redeliver(workspaceId, id, NOW);
        await engine.record(id, { now: NOW });
      },
      left: LEAVES,
    },
    {
      end: 'delivered, with a pending redelivery that its disabled receiver can’t get',
      make: async (id, { workspaceId, id: endpointId }) => {
        await engine.settle(id, NOW, 'delivered');
        await engine.log.redeliver(workspaceId, id, NOW);
        await engine.stores.receivers.patch(workspaceId, endpointId, { enabled: false }, NOW);
        await engine.worker.deliveries.cancel(id, 'receiver_disabled', NOW);
      },
      left: LEAVES,
    },
    {
      end: 'replayed',
      make: async (id, receiver) => {
        await engine.settle(id, NOW, 'failed');
        await replay(receiver);
      },
      left: KEPT,
    },
    {
      end: 'replayed and delivered',
      make: async (id, receiver) => {
        await engine.settle(id, NOW, 'failed');
        await replay(receiver);
        await engine.settle(id, NOW + 2, 'delivered');
      },
      left: LEAVES,
    },
    {
      end: 'delivered twice, by two workers',
      make: async (id) => {
        await engine.settle(id, NOW, 'delivered');
        await engine.settle(id, NOW, 'delivered');
      },
      left: LEAVES,
    },
  ])('$end', async ({ make, left }) => {
    const receiver = await engine.register();
    const id = await engine.acceptOne(receiver, NOW);
    await make(id, receiver);
    expect(await daysLeft(id)).toEqual(left);
    await expectConsistent();
  });

  const replay = async ({ workspaceId, id: endpointId }: Receiver) => {
    const facts = { since: NOW - 1, until: NOW + 1, statuses: ['failed'], createdAt: NOW } as const;
    await engine.replays.create(workspaceId, { id: `rpl_${endpointId}`, endpointId, ...facts });
    await engine.worker.steps.step(`rpl_${endpointId}`, NOW + 1);
    expect(await engine.redis.pttl(engine.keys.replay(`rpl_${endpointId}`))).toBeGreaterThan(RETENTION_MS - DAY_MS);
  };

  test('a body leaves with the last delivery of its transition', async () => {
    const first = await engine.register();
    const second = await engine.register({ workspaceId: first.workspaceId, url: 'https://b.example.com/in' });
    const ids = await engine.accept([first, second], NOW);
    const [a = '', b = ''] = ids;
    await engine.settle(a, NOW, 'delivered');
    expect(await daysLeft(a)).toEqual([7, 7, -1]);
    await engine.settle(b, NOW, 'failed');
    expect(await daysLeft(b)).toEqual(LEAVES);
    await expectConsistent();
  });

  test('a delivery that is settled again and again, and twice at once, keeps the count of what is open right', async () => {
    const first = await engine.register();
    const second = await engine.register({ workspaceId: first.workspaceId, url: 'https://b.example.com/in' });
    const ids = await engine.accept([first, second], NOW);
    const [a = '', b = ''] = ids;
    const { delivery, group } = await engine.load(a);
    const lease = await engine.leases.of(a, NOW);
    const facts = { attempt: { at: NOW, durationMs: 1 }, lease, groupLimit: LIMIT };
    const outcome = { answered: true, gone: false, isProbe: false, isRedelivery: false };
    await Promise.all(
      range(10).map((index) => {
        const { deliveries } = index % 2 ? engine.worker : engine.otherWorker;
        if (index % 3 === 0) return deliveries.cancel(a, 'receiver_removed', NOW);
        return deliveries.record({
          delivery,
          group,
          now: NOW,
          verdict: { kind: 'delivered' },
          ...facts,
          ...outcome,
        });
      }),
    );
    await expectConsistent();
    await engine.settle(b, NOW, 'delivered');
    await expectConsistent();
    expect(await engine.leases.isQueued(b)).toBe(false);
  });

  test('everything about a busy workspace is consistent after 300 random steps', async () => {
    const receivers = [await engine.register()];
    const { workspaceId } = receivers[0] ?? {};
    if (workspaceId === undefined) throw new Error('it was registered');
    for (const host of ['b', 'c'])
      receivers.push(await engine.register({ workspaceId, url: `https://${host}.example.com/in` }));
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const ids: string[] = [];
    for (const step of range(300)) {
      const now = NOW + step;
      const id = ids[random(Math.max(1, ids.length))];
      const choice = random(9);
      if (id === undefined || choice < 2) ids.push(...(await engine.accept(receivers, now)));
      else if (choice === 2) await engine.settle(id, now, 'delivered');
      else if (choice === 3) await engine.settle(id, now, 'failed');
      else if (choice === 4) await engine.record(id, { now, verdict: retryAt(now + 5), answered: random(2) === 0 });
      else if (choice === 5) await engine.log.redeliver(workspaceId, id, now);
      else if (choice === 6) await engine.worker.deliveries.cancel(id, 'receiver_disabled', now);
      else if (choice === 7) await engine.worker.deliveries.giveUp(id, now);
      else {
        const endpointId = receivers[random(3)]?.id ?? '';
        const replay = { id: `rpl_${step}`, endpointId, since: NOW - 1, until: now, createdAt: now };
        await engine.replays.create(workspaceId, { ...replay, statuses: ['failed', 'delivered'] });
        await engine.worker.steps.step(replay.id, now);
      }
    }
    await expectConsistent();
    for (const id of ids) {
      while ((await engine.load(id)).delivery.owedAttempts > 0) await engine.settle(id, NOW + 1_000, 'delivered');
      await engine.settle(id, NOW + 1_000, 'delivered');
    }
    await expectConsistent();
    for (const id of ids) expect(await daysLeft(id)).toEqual(LEAVES);
  }, 120_000);
});

describe('a purge', () => {
  test.each(['disabled', 'removed'])(
    'ends all that is pending for a %s receiver, and nothing of others',
    async (how) => {
      const receiver = await engine.register();
      const { workspaceId } = receiver;
      const neighbour = await engine.register({ workspaceId, url: 'https://other.example.com/in' });
      const both = await Promise.all(range(1_100).map((index) => engine.accept([receiver, neighbour], NOW + index)));
      const [first = '', second = ''] = both.map(([own = '']) => own);
      await engine.settle(first, NOW, 'delivered');
      await engine.log.redeliver(workspaceId, second, NOW);
      if (how === 'removed') await engine.stores.receivers.remove(workspaceId, receiver.id, NOW);
      else await engine.stores.receivers.patch(workspaceId, receiver.id, { enabled: false }, NOW);

      expect(await purgeAll(NOW + 5_000)).toBe(1_099);
      const { deliveries } = await engine.log.listByEndpoint(workspaceId, receiver.id, {}, 2_000);
      const reasons = new Set(deliveries.map(({ status, reason }) => `${status} ${reason ?? ''}`));
      expect(reasons).toEqual(new Set(['delivered ', `canceled receiver_${how}`]));
      expect(new Set(await Promise.all(both.map(([, other = '']) => engine.statusOf(other))))).toEqual(
        new Set(['pending']),
      );
      expect(await engine.waitingFor(receiver.group)).toEqual([]);
      expect(await engine.waitingFor(neighbour.group)).toHaveLength(1_100);
      expect(await engine.redis.zcard(engine.keys.purge)).toBe(0);
      expect(await purgeAll(NOW + 6_000)).toBe(0);
      expect(await findFaults({ redis: engine.redis, keys: engine.keys.queue })).toEqual([]);
    },
  );

  test('drops a redelivery that nobody waits for any more', async () => {
    const receiver = await engine.register();
    const id = await engine.acceptOne(receiver, NOW);
    await engine.settle(id, NOW, 'delivered');
    await engine.log.redeliver(receiver.workspaceId, id, NOW);
    await engine.stores.receivers.remove(receiver.workspaceId, receiver.id, NOW);
    expect(await purgeAll(NOW)).toBe(0);
    expect(await engine.leases.isQueued(id)).toBe(false);
    expect(await engine.statusOf(id)).toBe('delivered');
    expect(await daysLeft(id)).toEqual([7, -2, 7]);
    await expectConsistent();
  });

  test.each([
    ['disabled', 'receiver_disabled'],
    ['removed', 'receiver_removed'],
  ] as const)(
    'lets what is in work for a %s receiver end: it is delivered, or canceled, and not tried again',
    async (how, reason) => {
      const receiver = await engine.register();
      const ids = await Promise.all(range(3).map(() => engine.acceptOne(receiver, NOW)));
      const [failed = '', sent = '', unsent = ''] = ids;
      const jobs = await engine.worker.reserve(NOW);
      expect(jobs).toHaveLength(3);
      if (how === 'removed') await engine.stores.receivers.remove(receiver.workspaceId, receiver.id, NOW);
      else await engine.stores.receivers.patch(receiver.workspaceId, receiver.id, { enabled: false }, NOW);
      expect(await purgeAll(NOW)).toBe(0);
      await engine.record(failed, { now: NOW, verdict: retryAt(NOW + 1), answered: true });
      await engine.record(sent, { now: NOW });
      for (const job of jobs.filter(({ id }) => id === unsent)) await engine.worker.putBack(job, NOW);
      expect(await Promise.all(ids.map(engine.statusOf))).toEqual(['canceled', 'delivered', 'pending']);
      expect(await engine.redis.hget(engine.keys.delivery(failed), 'why')).toBe(reason);
      // What was put back goes at once, and its worker finds that it is for nobody.
      expect(await engine.worker.reserve(NOW)).toMatchObject([{ id: unsent }]);
    },
  );

  test('is over with its last step, whoever makes it, and however many make steps', async () => {
    const receiver = await engine.register();
    await Promise.all(range(300).map((index) => engine.acceptOne(receiver, NOW + index)));
    await engine.stores.receivers.patch(receiver.workspaceId, receiver.id, { enabled: false }, NOW);
    const counts = await Promise.all(
      [engine.worker, engine.otherWorker, engine.worker].map(async ({ purges }) => {
        let ended = 0;
        for await (const step of purges.purge(receiver.id, () => NOW)) {
          expect(step.length).toBeLessThanOrEqual(50);
          ended += step.length;
        }
        return ended;
      }),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(300);
    expect(await engine.redis.zcard(engine.keys.purge)).toBe(0);
    await expectConsistent();
  });

  test('that dies between two steps is taken up by another worker when its lease has ended', async () => {
    const receiver = await engine.register();
    await Promise.all(range(120).map((index) => engine.acceptOne(receiver, NOW + index)));
    await engine.stores.receivers.patch(receiver.workspaceId, receiver.id, { enabled: false }, NOW);
    const { purges } = engine.worker;
    expect(await purges.claim(NOW, NOW + 60_000, 10)).toEqual({ due: 1, ids: [receiver.id] });
    await purges.purge(receiver.id, () => NOW + 30_000).next();
    expect(await purges.claim(NOW + 60_000, NOW + 120_000, 10)).toEqual({ due: 0, ids: [] });
    expect(await purgeAll(NOW + 90_000)).toBe(100);
  });

  test('that is long takes its turn with others, and goes on when its next turn comes', async () => {
    const [long, short] = [await engine.register(), await engine.register()];
    for (const part of range(6))
      await Promise.all(range(100).map((index) => engine.acceptOne(long, NOW + part * 100 + index)));
    await engine.acceptOne(short, NOW);
    await engine.stores.receivers.remove(long.workspaceId, long.id, NOW);
    await engine.stores.receivers.remove(short.workspaceId, short.id, NOW + 1);
    const { purges } = engine.worker;
    const takeTurn = async (now: number) => {
      const { ids } = await purges.claim(now, now + 60_000, 1);
      let ended = 0;
      for (const id of ids) for await (const step of purges.purge(id, () => now)) ended += step.length;
      return [...ids, ended];
    };
    expect(await takeTurn(NOW + 2)).toEqual([long.id, 500]);
    expect(await takeTurn(NOW + 2)).toEqual([short.id, 1]);
    expect(await takeTurn(NOW + 2)).toEqual([long.id, 100]);
    expect(await takeTurn(NOW + 2)).toEqual([0]);
    expect(await engine.redis.zcard(engine.keys.purge)).toBe(0);
  });

  test('takes no step for endpoints for which nothing waits, and its round tells that it has found them', async () => {
    const receiver = await engine.register();
    const id = await engine.acceptOne(receiver, NOW);
    await engine.stores.receivers.remove(receiver.workspaceId, receiver.id, NOW);
    const idle = range(15).map((index) => `cb_${'0'.repeat(20)}${index}`);
    for (const each of idle) await engine.redis.zadd(engine.keys.purge, NOW - 1, each);
    const stepped: string[] = [];
    const reportPurged = (endpointId: string) => void stepped.push(endpointId);
    const logger = createLogger({ level: 'error', process: 'test', readable: false });
    const onFailed = (error: unknown) => {
      throw error;
    };
    const round = () => runPurges({ purges: engine.worker.purges, reportPurged, onFailed, logger, now: () => NOW });
    expect(await round()).toBe(10);
    expect(await engine.redis.zcard(engine.keys.purge)).toBe(6);
    expect(stepped).toEqual([]);
    expect(await round()).toBe(6);
    expect(stepped).toEqual([receiver.id]);
    expect(await engine.statusOf(id)).toBe('canceled');
    expect(await round()).toBe(0);
  });

  test.each<{ what: string; hold: (receiver: Receiver, id: string) => Promise<unknown> }>([
    {
      what: 'its next try',
      hold: (_, id) => engine.record(id, { now: NOW, verdict: retryAt(NOW + DAY_MS), answered: true }),
    },
    {
      what: 'a receiver that is paused',
      hold: ({ workspaceId, id }) => engine.stores.receivers.pause(workspaceId, id, undefined, NOW),
    },
  ])('ends what waits for $what', async ({ hold }) => {
    const receiver = await engine.register();
    const id = await engine.acceptOne(receiver, NOW);
    await hold(receiver, id);
    await engine.stores.receivers.patch(receiver.workspaceId, receiver.id, { enabled: false }, NOW);
    expect(await purgeAll(NOW)).toBe(1);
    expect(await engine.statusOf(id)).toBe('canceled');
  });

  test('says of each what was true when it ended: its receiver may be removed meanwhile', async () => {
    const receiver = await engine.register();
    await Promise.all(range(90).map((index) => engine.acceptOne(receiver, NOW + index)));
    await engine.stores.receivers.patch(receiver.workspaceId, receiver.id, { enabled: false }, NOW);
    const reasons: Set<string>[] = [];
    for await (const purged of engine.worker.purges.purge(receiver.id, () => NOW)) {
      reasons.push(new Set(purged.map(({ reason }) => reason)));
      if (reasons.length === 1) await engine.stores.receivers.remove(receiver.workspaceId, receiver.id, NOW);
    }
    expect(reasons.slice(0, 2)).toEqual([new Set(['receiver_disabled']), new Set(['receiver_removed'])]);
  });

  test('ends nothing once the receiver is enabled again', async () => {
    const receiver = await engine.register();
    const id = await engine.acceptOne(receiver, NOW);
    for (const enabled of [false, true])
      await engine.stores.receivers.patch(receiver.workspaceId, receiver.id, { enabled }, NOW);
    expect(await purgeAll(NOW)).toBe(0);
    expect(await engine.statusOf(id)).toBe('pending');
    expect(await engine.redis.zcard(engine.keys.purge)).toBe(0);
  });

  test('is done by another worker when its own dies, and only then', async () => {
    const receiver = await engine.register();
    const id = await engine.acceptOne(receiver, NOW);
    await engine.stores.receivers.remove(receiver.workspaceId, receiver.id, NOW);
    expect(await engine.worker.purges.claim(NOW, NOW + 60_000, 10)).toEqual({ due: 1, ids: [receiver.id] });
    expect(await engine.otherWorker.purges.claim(NOW + 59_999, NOW + 90_000, 10)).toEqual({ due: 0, ids: [] });
    expect(await purgeAll(NOW + 60_000)).toBe(1);
    expect(await engine.statusOf(id)).toBe('canceled');
  });

  test('an attempt that was in flight is recorded, and changes the end only when it was delivered', async () => {
    const receiver = await engine.register();
    const [delivered, failed] = [await engine.acceptOne(receiver, NOW), await engine.acceptOne(receiver, NOW)];
    await engine.stores.receivers.remove(receiver.workspaceId, receiver.id, NOW);
    await purgeAll(NOW);
    expect(await engine.record(delivered, { now: NOW })).toMatchObject({ kind: 'recorded', status: 'delivered' });
    expect(await engine.record(failed, { now: NOW, verdict: retryAt(NOW + 1), answered: true })).toMatchObject({
      kind: 'superseded',
      status: 'canceled',
    });
    await expectConsistent();
  });
});

describe('a pending redelivery', () => {
  test('is counted up, made good one attempt at a time, and in the queue until the last one is recorded', async () => {
    const receiver = await engine.register();
    const id = await engine.acceptOne(receiver, NOW);
    await engine.settle(id, NOW, 'delivered');
    for (let asked = 0; asked < 3; asked++) {
      expect(await engine.log.redeliver(receiver.workspaceId, id, NOW + 1_000)).toEqual({
        kind: 'pending',
        event: 'task.done',
      });
    }
    for (const left of [2, 1, 0]) {
      expect((await engine.worker.reserve(NOW + 1_000)).map((job) => job.id)).toEqual([id]);
      expect(await engine.record(id, { now: NOW })).toMatchObject({ kind: 'recorded', pendingRedeliveries: left });
    }
    expect(await engine.leases.isQueued(id)).toBe(false);
  });

  test('is not made good by an attempt that began before it was asked for', async () => {
    const receiver = await engine.register();
    const id = await engine.acceptOne(receiver, NOW);
    const { delivery, group } = await engine.load(id);
    const lease = await engine.leases.of(id, NOW);
    await engine.log.redeliver(receiver.workspaceId, id, NOW);
    expect(await engine.waitingFor(receiver.group)).toEqual([]);
    const reply = await engine.worker.deliveries.record({
      delivery,
      group,
      now: NOW,
      verdict: { kind: 'delivered' },
      attempt: { at: NOW, durationMs: 1 },
      answered: true,
      gone: false,
      isProbe: false,
      isRedelivery: false,
      lease,
      groupLimit: LIMIT,
    });
    expect(reply).toMatchObject({ status: 'delivered', pendingRedeliveries: 1 });
    expect((await engine.worker.reserve(NOW)).map((job) => job.id)).toEqual([id]);
    await expectConsistent();
  });

  test('is made at once when it was asked for just as its delivery was found to be due later', async () => {
    const receiver = await engine.register();
    const id = await engine.acceptOne(receiver, NOW);
    await engine.record(id, { now: NOW, verdict: retryAt(NOW + 60_000), answered: true });
    await engine.leases.of(id, NOW);
    await engine.log.redeliver(receiver.workspaceId, id, NOW);
    const handle = (await engine.leases.find(id)) ?? '';
    const { group } = receiver;
    const job = { id, handle, group, dueAt: NOW, ring: 1, tenant: '', isProbe: false, loaded: undefined } as const;
    expect(await engine.worker.finish(job, NOW)).toBe('waits');
    expect((await engine.worker.reserve(NOW)).map((each) => each.id)).toEqual([id]);
  });

  test('is in work again elsewhere when its worker dies', async () => {
    const receiver = await engine.register();
    const id = await engine.acceptOne(receiver, NOW);
    await engine.settle(id, NOW, 'failed');
    await engine.log.redeliver(receiver.workspaceId, id, NOW);
    const take = async (now: number) => (await engine.otherWorker.reserve(now)).map((job) => job.id);
    expect(await take(NOW)).toEqual([id]);
    expect(await engine.worker.recover(NOW + LEASE_MS - 1)).toEqual([]);
    expect(await engine.worker.recover(NOW + LEASE_MS)).toEqual([id]);
    expect(await take(NOW + LEASE_MS)).toEqual([id]);
    await engine.record(id, { now: NOW + LEASE_MS });
    expect(await engine.leases.isQueued(id)).toBe(false);
  });

  test('goes before all others of its group, once, also when it waits for a later try', async () => {
    const receiver = await engine.register();
    const ids = [await engine.acceptOne(receiver, NOW), await engine.acceptOne(receiver, NOW + 1)];
    const [first = '', second = ''] = ids;
    await engine.record(second, { now: NOW + 2, verdict: retryAt(NOW + 60_000), answered: true });
    await engine.log.redeliver(receiver.workspaceId, second, NOW + 3);
    expect((await engine.worker.reserve(NOW + 3)).map((job) => job.id)).toEqual([second, first]);
    expect(await engine.worker.reserve(NOW + 120_000)).toEqual([]);
  });

  test('of a test event that still waits to be sent is made after it', async () => {
    const { workspaceId, id: endpointId } = await engine.register();
    const transitionId = newTestTransitionId();
    const deliveryId = deliveryIdOf(transitionId, endpointId);
    const event = { transitionId, deliveryId, endpointId, workspaceId, body: '{}', createdAt: NOW };
    await engine.stores.testEvents.create(event);
    await engine.log.redeliver(workspaceId, deliveryId, NOW);
    const [job, ...others] = await engine.worker.reserve(NOW);
    expect([job?.id, job?.ring, others]).toEqual([deliveryId, 0, []]);
    const { delivery, group } = await engine.load(deliveryId);
    await engine.worker.deliveries.record({
      delivery,
      group,
      now: NOW,
      verdict: { kind: 'delivered' },
      attempt: { at: NOW, durationMs: 1 },
      answered: true,
      gone: false,
      isProbe: false,
      isRedelivery: false,
      groupLimit: LIMIT,
      lease: job?.handle ?? '',
    });
    expect(await engine.worker.reserve(NOW)).toMatchObject([{ id: deliveryId, group }]);
  });

  test.each<{ status: 'delivered' | 'failed'; ends: AttemptVerdict['kind']; then: string }>([
    { status: 'delivered', ends: 'retry', then: 'delivered' },
    { status: 'delivered', ends: 'delivered', then: 'delivered' },
    { status: 'failed', ends: 'retry', then: 'failed' },
    { status: 'failed', ends: 'failed', then: 'failed' },
    { status: 'failed', ends: 'delivered', then: 'delivered' },
  ])('of a $status delivery that ends as $ends leaves it $then', async ({ status, ends, then }) => {
    const receiver = await engine.register();
    const id = await engine.acceptOne(receiver, NOW);
    await engine.settle(id, NOW, status);
    await engine.log.redeliver(receiver.workspaceId, id, NOW);
    const verdicts: Record<AttemptVerdict['kind'], AttemptVerdict> = {
      retry: retryAt(NOW + 1),
      delivered: { kind: 'delivered' },
      failed: { kind: 'failed', reason: 'too_old' },
    };
    await engine.record(id, { now: NOW + 5, verdict: verdicts[ends], answered: true });
    expect(await engine.statusOf(id)).toBe(then);
    await expectConsistent();
  });

  test.each<AttemptVerdict>([retryAt(NOW + 900), { kind: 'failed', reason: 'schedule_exhausted' }])(
    'of a pending delivery that fails leaves its tries and its next try, nine times in a row, whatever the verdict: %j',
    async (verdict) => {
      const receiver = await engine.register();
      const id = await engine.acceptOne(receiver, NOW);
      await engine.record(id, { now: NOW, verdict: retryAt(NOW + 300), answered: true });
      for (let count = 1; count <= 9; count++) {
        await engine.log.redeliver(receiver.workspaceId, id, NOW);
        expect(await engine.record(id, { now: NOW + count, verdict, answered: true })).toMatchObject({
          kind: 'recorded',
          status: 'pending',
        });
      }
      const scheduled = { status: 'pending', tries: 1, nextAttemptAt: NOW + 300, owedAttempts: 0 };
      expect((await engine.load(id)).delivery).toMatchObject(scheduled);
      expect(await readAttempts(engine.redis, engine.keys, id)).toHaveLength(10);
      // The schedule goes on.
      await engine.record(id, { now: NOW + 300, verdict: retryAt(NOW + 600), answered: true });
      expect((await engine.load(id)).delivery).toMatchObject({ tries: 2, nextAttemptAt: NOW + 600 });
      await expectConsistent();
    },
  );
});

/** What one attempt leaves, beside the delivery's own record. */
async function readTraces(id: string, { id: endpointId, group }: Receiver) {
  return await Promise.all([
    readAttempts(engine.redis, engine.keys, id),
    engine.redis.hget(engine.keys.endpoint(endpointId), 'fails'),
    engine.redis.hgetall(engine.keys.queue.group(group)),
    engine.redis.hgetall(engine.keys.delivery(id)),
    engine.waitingFor(group),
  ]);
}

test('an attempt whose record is sent twice, since the connection broke before the reply, is logged and counted once', async () => {
  const receiver = await engine.register();
  const id = await engine.acceptOne(receiver, NOW);
  for (const count of [1, 2]) {
    await engine.log.redeliver(receiver.workspaceId, id, NOW);
    expect((await engine.load(id)).delivery.owedAttempts).toBe(count);
  }
  const { delivery, group } = await engine.load(id);
  const failure = {
    delivery,
    group,
    now: NOW,
    verdict: retryAt(NOW + 5),
    attempt: { at: NOW, durationMs: 1 },
    answered: false,
    gone: false,
    isProbe: false,
    isRedelivery: true,
    disableAfterMs: 1_000_000,
    lease: await engine.leases.of(id, NOW),
    groupLimit: LIMIT,
  };
  await engine.worker.deliveries.record(failure);
  const before = await readTraces(id, receiver);
  expect(before).toMatchObject([{ length: 1 }, '1', { fails: '1' }, { owe: '1' }, [id]]);
  await engine.worker.deliveries.record(failure);
  expect(await readTraces(id, receiver)).toEqual(before);
});

test('a record that is sent twice takes the delivery from nobody who has it by then', async () => {
  const receiver = await engine.register();
  const id = await engine.acceptOne(receiver, NOW);
  const { delivery, group } = await engine.load(id);
  const failure = {
    delivery,
    group,
    now: NOW,
    verdict: retryAt(NOW),
    attempt: { at: NOW, durationMs: 1 },
    answered: true,
    gone: false,
    isProbe: false,
    isRedelivery: false,
    lease: await engine.leases.of(id, NOW),
    groupLimit: LIMIT,
  };
  await engine.worker.deliveries.record(failure);
  const [job] = await engine.otherWorker.reserve(NOW);
  expect(job?.id).toBe(id);
  await engine.worker.deliveries.record(failure);
  expect(await engine.leases.find(id)).toBe(job?.handle);
  expect(await engine.waitingFor(receiver.group)).toEqual([]);
  await expectConsistent();
});

test('an attempt whose record comes again after another worker made one is logged and counted once', async () => {
  const receiver = await engine.register();
  const id = await engine.acceptOne(receiver, NOW);
  const { delivery, group } = await engine.load(id);
  const lease = await engine.leases.of(id, NOW);
  const failure = (at: number) => ({
    delivery,
    group,
    now: NOW,
    verdict: retryAt(NOW + 5),
    attempt: { at, durationMs: 1 },
    answered: false,
    gone: false,
    isProbe: false,
    isRedelivery: false,
    disableAfterMs: 1_000_000,
    lease,
    groupLimit: LIMIT,
  });
  await engine.worker.deliveries.record(failure(NOW));
  await engine.otherWorker.deliveries.record(failure(NOW + 1));
  const before = await readTraces(id, receiver);
  expect(before).toMatchObject([{ length: 2 }, '2', { fails: '2' }, { n: '1' }, [id]]);
  await engine.worker.deliveries.record(failure(NOW));
  expect(await readTraces(id, receiver)).toEqual(before);
});

test('two attempts that were decided on the same try count as one', async () => {
  const receiver = await engine.register();
  const id = await engine.acceptOne(receiver, NOW);
  const { delivery, group } = await engine.load(id);
  const lease = await engine.leases.of(id, NOW);
  const attempt = (at: number, durationMs: number) => ({
    delivery,
    group,
    now: NOW,
    verdict: retryAt(at),
    attempt: { at: NOW, durationMs },
    answered: true,
    gone: false,
    isProbe: false,
    isRedelivery: false,
    lease,
    groupLimit: LIMIT,
  });
  expect((await engine.worker.deliveries.record(attempt(NOW + 5, 1))).kind).toBe('recorded');
  expect((await engine.otherWorker.deliveries.record(attempt(NOW + 9, 2))).kind).toBe('superseded');
  expect((await engine.load(id)).delivery).toMatchObject({ tries: 1, nextAttemptAt: NOW + 5 });
});

test('a delivery whose record fails stays in work, so that its worker can put it back, and goes again unless it has ended', async () => {
  const receiver = await engine.register();
  const id = await engine.acceptOne(receiver, NOW);
  const [job] = await engine.worker.reserve(NOW);
  if (!job) throw new Error('it was due');
  const { transitionId } = (await engine.load(id)).delivery;
  const body = await engine.redis.hgetall(engine.keys.transition(transitionId));
  const { delivery, group } = await engine.load(id);
  await engine.redis.del(engine.keys.transition(transitionId));
  await engine.redis.set(engine.keys.transition(transitionId), 'of another type');
  const recording = engine.worker.deliveries.record({
    delivery,
    group,
    now: NOW,
    verdict: { kind: 'delivered' },
    attempt: { at: NOW, durationMs: 1 },
    answered: true,
    gone: false,
    isProbe: false,
    isRedelivery: false,
    groupLimit: LIMIT,
    lease: job.handle,
  });
  await expect(recording).rejects.toThrow('WRONGTYPE');
  expect(await engine.leases.find(id)).toBe(job.handle);
  expect(await engine.worker.putBack(job, NOW)).toBe(1);
  await engine.redis.del(engine.keys.transition(transitionId));
  await engine.redis.hset(engine.keys.transition(transitionId), body);
  // The script had written that before it failed.
  expect((await engine.load(id)).delivery.status).toBe('delivered');
  expect(await engine.worker.reserve(NOW)).toEqual([]);
  expect(await findFaults({ redis: engine.redis, keys: engine.keys.queue })).toEqual([]);
});
