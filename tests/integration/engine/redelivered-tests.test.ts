import { deliveryIdOf, newTestTransitionId, type DeliveryId } from '@herald/core';
import { ProxyFailedError } from '@herald/egress/egress-errors';
import type { LoadedDelivery } from '@herald/store/deliveries/delivery-record';
import type { MadeAttempt, MakeAttempt } from '../../../apps/worker/src/deliver.ts';
import { processTestEvent } from '../../../apps/worker/src/deliver-test-event.ts';
import type { Reserved } from '../../../packages/queue/src/worker/reserve.ts';
import { expectTtl } from '../../support/expect-ttl.ts';
import { LEASE_MS } from '../../support/leases.ts';
import { findFaults } from '../queue/read-queue.ts';
import { LIMIT, RETENTION_MS, startEngine, type Engine, type Receiver } from './start-engine.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await startEngine();
});
afterEach(() => engine[Symbol.asyncDispose]());

const NOW = Date.now();
const ASKED_AT = NOW + 10;
const ENDED_AT = NOW + LEASE_MS + 1_000;

type Case = { readonly receiver: Receiver; readonly id: DeliveryId };

async function createTestEvent(): Promise<Case> {
  const receiver = await engine.register();
  const { workspaceId, id: endpointId } = receiver;
  const transitionId = newTestTransitionId();
  const id = deliveryIdOf(transitionId, endpointId);
  const event = { transitionId, deliveryId: id, endpointId, workspaceId, body: '{}', createdAt: NOW };
  expect(await engine.stores.testEvents.create(event)).toBe('created');
  return { receiver, id };
}

const redeliver = ({ receiver, id }: Case) => engine.log.redeliver(receiver.workspaceId, id, ASKED_AT);
const claim = ({ receiver, id }: Case, claimer: string) =>
  engine.stores.testEvents.claim(receiver.workspaceId, id, claimer);

async function reserveOne(now: number, by = engine.worker): Promise<Reserved> {
  const [job, ...others] = await by.reserve(now);
  if (!job || others.length > 0) throw new Error('there is one, and it is due');
  return job;
}

const never: MakeAttempt = () => Promise.reject(new Error('it must not be sent'));

/** As a worker does with what it has reserved of the test events. */
async function process(job: Reserved, makeAttempt: MakeAttempt = never): Promise<void> {
  const ignore = () => undefined;
  const told = { attempted: ignore, ended: ignore, purged: ignore, bodyLost: ignore, told: ignore, noticeLeft: ignore };
  const deps = {
    ...{ deliveries: engine.otherWorker.deliveries, claim: engine.stores.testEvents.claim, makeAttempt },
    ...{ reply: () => Promise.resolve(), report: told, groupLimit: LIMIT, platform: undefined },
    ...{ deadlineMs: 1_000, now: () => ENDED_AT },
  };
  const { id, handle: lease, isProbe, loaded } = job;
  const turn = { id, lease, isProbe, loaded: loaded as LoadedDelivery };
  await processTestEvent(deps, turn, new AbortController().signal);
}

const answered = { outcome: { kind: 'responded', status: 500, answer: '' }, startedAt: NOW, durationMs: 7, keyIds: [] };

/** How a test event comes to its end for which a redelivery was asked meanwhile, and its status then. */
const ENDS: readonly (readonly [string, string, (one: Case) => Promise<unknown>])[] = [
  [
    'its worker died after the claim',
    'canceled',
    async (one) => {
      const { handle } = await reserveOne(NOW);
      expect(await claim(one, handle)).toBe('claimed');
      await redeliver(one);
      await engine.otherWorker.recover(ENDED_AT);
      await process(await reserveOne(ENDED_AT, engine.otherWorker));
    },
  ],
  [
    'its worker died before the claim, and the API took it back',
    'canceled',
    async (one) => {
      await reserveOne(NOW);
      await redeliver(one);
      expect(await claim(one, 'the API')).toBe('claimed');
      await engine.worker.deliveries.cancel(one.id, 'not_sent_in_time', ENDED_AT);
    },
  ],
  [
    'no worker took it, and the API took it back',
    'canceled',
    async (one) => {
      await redeliver(one);
      expect(await claim(one, 'the API')).toBe('claimed');
      await engine.worker.deliveries.cancel(one.id, 'not_sent_in_time', ENDED_AT);
    },
  ],
  [
    'its worker could not send it',
    'canceled',
    async (one) => {
      const job = await reserveOne(NOW);
      await redeliver(one);
      await process(job, () => Promise.reject(new ProxyFailedError('connect_failed')));
    },
  ],
  [
    'its worker sent it, and it failed',
    'failed',
    async (one) => {
      const job = await reserveOne(NOW);
      await redeliver(one);
      await process(job, () => Promise.resolve(answered as unknown as MadeAttempt));
    },
  ],
];

describe('a test event for which a redelivery was asked before it ended', () => {
  test.each(ENDS)('has ended when %s (%s), and the redelivery goes', async (_, status, end) => {
    const one = await createTestEvent();
    await end(one);
    expect(await engine.statusOf(one.id)).toBe(status);
    expect(await engine.waitingFor(one.receiver.group)).toEqual([one.id]);
    expect(await findFaults({ redis: engine.redis, keys: engine.keys.queue })).toEqual([]);
    // It stays as long as the redelivery is pending, with its body.
    expect(await engine.redis.ttl(engine.keys.delivery(one.id))).toBe(-1);
    const job = await reserveOne(ENDED_AT);
    expect(job).toMatchObject({ id: one.id, group: one.receiver.group, loaded: { body: Buffer.from('{}') } });
    const verdict = { kind: 'delivered' } as const;
    const reply = await engine.record(one.id, { now: ENDED_AT, verdict, lease: job.handle });
    expect(reply).toMatchObject({ kind: 'recorded', status: 'delivered', pendingRedeliveries: 0 });
    expect(await engine.leases.isQueued(one.id)).toBe(false);
    await expectTtl(engine.redis, engine.keys.delivery(one.id), RETENTION_MS);
  });
});

test('a delivery that is given up as too old gets the redelivery that was asked for meanwhile', async () => {
  const receiver = await engine.register();
  const id = await engine.acceptOne(receiver, NOW);
  const { handle: lease } = await reserveOne(NOW);
  await redeliver({ receiver, id });
  await engine.worker.deliveries.giveUp(id, ENDED_AT, { lease, isProbe: false });
  expect([await engine.statusOf(id), await engine.waitingFor(receiver.group)]).toEqual(['failed', [id]]);
  expect(await findFaults({ redis: engine.redis, keys: engine.keys.queue })).toEqual([]);
});

test('an end that comes late leaves a redelivery to the worker that has it by then', async () => {
  const receiver = await engine.register();
  const id = await engine.acceptOne(receiver, NOW);
  const { handle: lease } = await reserveOne(NOW);
  await engine.settle(id, NOW, 'failed');
  await redeliver({ receiver, id });
  await reserveOne(ASKED_AT, engine.otherWorker);
  await engine.worker.deliveries.giveUp(id, ENDED_AT, { lease, isProbe: false });
  expect(await engine.waitingFor(receiver.group)).toEqual([]);
  expect(await engine.leases.find(id)).toBeDefined();
});
