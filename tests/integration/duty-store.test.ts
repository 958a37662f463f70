import { deliveryIdOf, newTestTransitionId } from '@herald/core';
import { addOwedJobs, createDeliveryQueue, newRevision } from '@herald/infra';
import { buildTask, newWorkspaceId, startStores, type Stores } from '../support/start-stores.ts';

let stores: Stores;
beforeEach(async () => {
  stores = await startStores();
});
afterEach(() => stores[Symbol.asyncDispose]());

const ACCEPTED_AT = 1_700_000_000_000;
const MARK = ACCEPTED_AT + 5_000;

/** A transition whose jobs are owed, as version 0.1 leaves one when it dies between accepting and adding the jobs. */
async function owe(): Promise<string> {
  const task = buildTask(newWorkspaceId());
  await stores.tasks.create(task);
  const transitionId = newTestTransitionId();
  await stores.transitions.commit({
    ...{ task, newRevision: newRevision(), subscriptionVersion: '0', now: ACCEPTED_AT },
    change: { status: 'running', sequence: 1 },
    emission: {
      ...{ transitionId, event: 'task.check_in', body: '{}' },
      targets: [{ endpointId: 'wh_a', destination: 'somewhere', enabled: true }],
    },
  });
  const { redis, keys } = stores;
  await redis.zadd(keys.owed, MARK, transitionId);
  await redis.del(...(await redis.keys(`${keys.bullPrefix}:deliveries:*`)));
  return transitionId;
}

async function readMark(id: string): Promise<number | undefined> {
  const score = await stores.redis.zscore(stores.keys.owed, id);
  return score === null ? undefined : Number(score);
}

const idsOf = (duties: readonly { id: string }[]) => duties.map(({ id }) => id);

test('what was just accepted is left to its own process, and taken when that counts as crashed', async () => {
  const id = await owe();
  expect(await stores.duties.claimOwed(MARK - 1, MARK + 30_000, 10)).toEqual([]);
  expect(await stores.duties.claimOwed(MARK, MARK + 30_000, 10)).toEqual([
    { id, event: 'task.check_in', deliveryIds: [deliveryIdOf(id, 'wh_a')] },
  ]);
});

test('of two sweepers that come at the same time one gets each duty, and the other only when the lease has ended', async () => {
  const ids = [await owe(), await owe(), await owe()];
  const leaseEndsAt = MARK + 30_000;
  const claims = await Promise.all([
    stores.duties.claimOwed(MARK, leaseEndsAt, 10),
    stores.second.duties.claimOwed(MARK, leaseEndsAt, 10),
  ]);
  expect(idsOf(claims.flat()).sort()).toEqual([...ids].sort());
  expect(await stores.second.duties.claimOwed(leaseEndsAt - 1, leaseEndsAt + 30_000, 10)).toEqual([]);
  expect(idsOf(await stores.second.duties.claimOwed(leaseEndsAt, leaseEndsAt + 30_000, 10)).sort()).toEqual(ids.sort());
});

test('a claim takes no more than it asks for, the oldest first', async () => {
  await owe();
  await owe();
  await owe();
  const first = await stores.duties.claimOwed(MARK, MARK + 30_000, 2);
  const second = await stores.duties.claimOwed(MARK, MARK + 30_000, 2);
  expect([first.length, second.length]).toEqual([2, 1]);
});

test('a mark is cleared only by the one under whose lease it is', async () => {
  const id = await owe();
  const leaseEndsAt = MARK + 30_000;
  await stores.duties.claimOwed(MARK, leaseEndsAt, 10);
  await stores.duties.clearOwed(id, MARK); // the API comes late: the duty has passed to a sweeper
  expect(await readMark(id)).toBe(leaseEndsAt);
  await stores.duties.clearOwed(id, leaseEndsAt);
  expect(await readMark(id)).toBeUndefined();
});

test('a mark whose transition is gone leaves the list', async () => {
  const id = await owe();
  await stores.redis.del(stores.keys.transition(id));
  expect(await stores.duties.claimOwed(MARK, MARK + 30_000, 10)).toEqual([]);
  expect(await stores.redis.zcard(stores.keys.owed)).toBe(0);
});

test('completing a duty twice puts each job in line once, and clears the mark', async () => {
  const id = await owe();
  const deliveryId = deliveryIdOf(id, 'wh_a');
  const { duties, redis, keys } = stores;
  await using queue = disposable(createDeliveryQueue({ redis, keys, name: 'deliveries' }));
  const duty = { id, event: 'task.check_in', deliveryIds: [deliveryId] } as const;
  await Promise.all([
    addOwedJobs({ duties, queue }, [duty], MARK, ACCEPTED_AT),
    addOwedJobs({ duties, queue }, [duty], MARK, ACCEPTED_AT),
  ]);
  expect(await redis.lrange(`${keys.bullPrefix}:deliveries:wait`, 0, -1)).toEqual([deliveryId]);
  expect(await readMark(id)).toBeUndefined();
  expect(await duties.findPending('deliveries', [deliveryId])).toEqual([
    { id: deliveryId, dueAt: ACCEPTED_AT, hasJob: true, isInBacklog: false },
  ]);
});

test('a delivery that ended meanwhile gets no job', async () => {
  const id = await owe();
  const { duties, redis, keys } = stores;
  await stores.deliveries.cancel(deliveryIdOf(id, 'wh_a'), 'receiver_removed', ACCEPTED_AT);
  await using queue = disposable(createDeliveryQueue({ redis, keys, name: 'deliveries' }));
  const duty = { id, event: 'task.check_in', deliveryIds: [deliveryIdOf(id, 'wh_a')] } as const;
  await addOwedJobs({ duties, queue }, [duty], MARK, ACCEPTED_AT);
  expect(await redis.llen(`${keys.bullPrefix}:deliveries:wait`)).toBe(0);
});

test('an open transition is audited at its time, once per round', async () => {
  const id = await owe();
  const firstAudit = ACCEPTED_AT + 60_000;
  expect(await stores.duties.claimAudits(firstAudit - 1, firstAudit + 600_000, 10)).toEqual([]);
  expect(idsOf(await stores.duties.claimAudits(firstAudit, firstAudit + 600_000, 10))).toEqual([id]);
  expect(await stores.second.duties.claimAudits(firstAudit, firstAudit + 600_000, 10)).toEqual([]);
});

function disposable<T extends { close: () => Promise<void> }>(thing: T): T & AsyncDisposable {
  return { ...thing, [Symbol.asyncDispose]: thing.close };
}
