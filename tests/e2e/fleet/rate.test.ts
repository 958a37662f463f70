import { waitFor } from '@herald/test-kit';
import { readDelivery } from '../../support/delivery-state.ts';
import { sized } from '../../support/sized.ts';
import { startHerald } from '../../support/start-herald.ts';
import { emitMany, expectNoInternalErrors, expectNothingLeft } from './fleet.ts';

jest.setTimeout(180_000);

const PER_SECOND = 10;
const WATCHED_S = sized(8, 60);
/** What still waits when the limit is lifted. */
const REST = 300;
const DELIVERIES = PER_SECOND * (1 + WATCHED_S) + REST;

type Shown = { readonly rateLimit?: object; readonly health: { readonly waitingForRate?: number; backlog: number } };

test('four workers hold the rate of a receiver within 5 %, also when one is killed, and hold up nobody else of its host', async () => {
  await using herald = await startHerald({ workers: 4 });
  const workspace = await herald.createWorkspace();
  const seen: { readonly limited: number[]; readonly free: number[] } = { limited: [], free: [] };
  const accepted = new Map<string, number>();
  const receiver = await herald.startReceiver(({ path, headers }) => {
    seen[path === '/limited' ? 'limited' : 'free'].push(performance.now());
    const id = headers['x-service-delivery'] ?? '';
    accepted.set(id, (accepted.get(id) ?? 0) + 1);
    return 200;
  });
  const { origin } = new URL(receiver.url);
  const limited = await workspace.registerReceiver({
    url: `${origin}/limited`,
    rateLimit: { perSecond: PER_SECOND },
  });
  const free = await workspace.registerReceiver({ url: `${origin}/free` });
  const read = async ({ id }: { readonly id: string }) =>
    (await workspace.request('GET', `/api/public/webhooks/${id}`)).body as Shown;

  const emittedFrom = performance.now();
  await emitMany(herald, workspace, DELIVERIES);
  await waitFor('the other receiver to have all', () => seen.free.length, {
    until: (count) => count === DELIVERIES,
    deadlineMs: 20_000,
  });
  const [first = 0] = seen.limited;
  // The burst, and what the time since the first report allows. The first arrival may be late, as it waits for a handshake.
  const allowed = PER_SECOND * (1 + (performance.now() - emittedFrom) / 1_000);
  expect(seen.limited.length).toBeLessThanOrEqual(allowed * 1.05);
  // Between the time of a token and the reserve that takes it nothing waits for the rate.
  const isWaiting = ({ health }: Shown) => health.waitingForRate !== undefined;
  const ofLimited = await waitFor('the rate to be waited for', () => read(limited), { until: isWaiting });
  const ofFree = await read(free);
  expect(ofLimited).toMatchObject({ rateLimit: { perSecond: PER_SECOND }, health: { state: 'healthy' } });
  // All that neither came by now nor was on its way.
  expect(ofLimited.health.waitingForRate).toBeGreaterThanOrEqual(DELIVERIES - seen.limited.length - PER_SECOND);
  expect(ofFree.rateLimit).toBeNull();
  expect(ofFree.health).not.toHaveProperty('waitingForRate');
  await herald.workers[0]?.kill();
  await waitFor('the time to be over', () => performance.now() - first > 1_000 * (1 + WATCHED_S), {
    deadlineMs: 1_000 * (10 + WATCHED_S),
  });

  // With the burst, which a busy machine spreads over more than its second, and until shortly before the limit is lifted.
  const watched = seen.limited.filter((at) => at - first <= 1_000 * WATCHED_S);
  const expectedIn = (seconds: number) => PER_SECOND * (1 + seconds);
  // Up to the last that came: a busy machine sends the next ones late.
  const seconds = ((watched.at(-1) ?? first) - first) / 1_000;
  expect(seconds).toBeGreaterThan(WATCHED_S / 2);
  expect(watched.length).toBeGreaterThanOrEqual(Math.floor(0.95 * expectedIn(seconds)));
  expect(watched.length).toBeLessThanOrEqual(Math.ceil(1.05 * expectedIn(WATCHED_S)));

  await workspace.request('PATCH', `/api/public/webhooks/${limited.id}`, { body: { rateLimit: null } });
  await waitFor('the rest to come at once', () => seen.limited.length, {
    // What the killed worker had comes when its lease has ended.
    until: (count) => count >= DELIVERIES - PER_SECOND,
    // At its rate the rest would take half a minute.
    deadlineMs: 20_000,
  });
  await expectNothingLeft(herald.redis);
  expect(accepted.size).toBe(2 * DELIVERIES);
  const records = await Promise.all([...accepted.keys()].map((id) => readDelivery(herald.redis, id)));
  expect(new Set(records.map(({ attempts }) => attempts))).toEqual(new Set([1]));
  expectNoInternalErrors(herald);
});
