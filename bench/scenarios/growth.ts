import { createCertificateAuthority, waitFor, type RunningRedis } from '@herald/test-kit';
import { measureFloor } from '../floor.ts';
import { delayPending, type DelayedDeliveries } from '../delay-pending.ts';
import { registerReceivers } from '../register-receivers.ts';
import type { Scenario } from '../scenario.ts';
import { startBenchRedis } from '../start-bench-redis.ts';
import { createHeraldEnv, startApi, startWorker } from '../start-herald.ts';
import { startReceivers, type Receivers } from '../start-receivers.ts';
import { startTasks } from '../start-tasks.ts';
import { median } from '../statistics.ts';
import type { Cell } from '../table.ts';
import { judgeGrowth } from '../targets.ts';

const OWN_RECEIVERS = 10;
const TASKS = 500;
const FLOOR_COUNT = 10_000;
const DEADLINE_MS = 600_000;

type Variant = { readonly name: string; readonly registered: number; readonly behind: number };
type Round = { readonly acceptedPerSecond: number; readonly drainedPerSecond: number };
type Herald = AsyncDisposable & { readonly variant: Variant; readonly measure: () => Promise<Round> };

/** Whether Herald gets slower with what it holds: all variants stand side by side, and take turns. */
export const growth: Scenario = async ({ options, say }) => {
  const { count, repeats, receivers: most, behind } = options;
  const variants: Variant[] = [
    { name: `${OWN_RECEIVERS} receivers, nothing behind`, registered: OWN_RECEIVERS, behind: 0 },
    { name: `${Math.ceil(most / 100)} receivers`, registered: Math.ceil(most / 100), behind: 0 },
    { name: `${most} receivers`, registered: most, behind: 0 },
    { name: `${behind} delayed deliveries behind`, registered: OWN_RECEIVERS, behind },
  ];
  await using cleanUp = new AsyncDisposableStack();
  const heralds: Herald[] = [];
  for (const variant of variants) {
    say(`growth, preparing ${variant.name}`);
    heralds.push(cleanUp.use(await startVariant(variant, count)));
  }
  const rounds = new Map<Variant, Round[]>();
  const floors: number[] = [];
  for (let round = 0; round <= repeats; round++) {
    say(round === 0 ? 'growth, warming up' : `growth, round ${round} of ${repeats}`);
    if (round > 0) floors.push((await measureFloor(Math.min(count, FLOOR_COUNT))).composed.perSecond);
    for (const { variant, measure } of heralds) {
      const measured = await measure();
      if (round > 0) rounds.set(variant, [...(rounds.get(variant) ?? []), measured]);
    }
  }
  const [smallest = []] = rounds.values();
  const rows = [...rounds].map(([{ name }, some]): Cell[] => {
    const ratio = (read: (round: Round) => number) =>
      median(some.map((round, index) => read(round) / read(smallest[index] ?? round)));
    const accepted = ({ acceptedPerSecond }: Round) => acceptedPerSecond;
    const drained = ({ drainedPerSecond }: Round) => drainedPerSecond;
    const ofFloor = median(some.map((round, index) => drained(round) / (floors[index] ?? NaN)));
    return [name, median(some.map(accepted)), ratio(accepted), median(some.map(drained)), ratio(drained), ofFloor];
  });
  const table = {
    title: `Growth: ${count} deliveries a round, median of ${repeats} interleaved rounds`,
    columns: ['deliveries/s', 'accepted', 'of the smallest', 'drained', 'of the smallest', 'of the floor'],
    rows,
    notes: [
      'Ratios are to the smallest in the same round. Accepted in batches at fan-out 10 while no worker runs; then one worker, started anew, drains it.',
      'Receivers are those of all workspaces; the measured one has ten.',
    ],
  };
  return {
    tables: [table],
    raw: { rounds: Object.fromEntries([...rounds].map(([{ name }, some]) => [name, some])), floors },
    targets: judgeGrowth([...rounds].map(([{ name }, some]) => ({ name, rounds: some }))),
  };
};

/** Stands by until it is its turn; a worker runs only while it drains. */
async function startVariant(variant: Variant, count: number): Promise<Herald> {
  await using cleanUp = new AsyncDisposableStack();
  const ca = await createCertificateAuthority();
  const redis = cleanUp.use(await startBenchRedis());
  const receivers = cleanUp.use(
    await startReceivers({ ca, behaviours: new Array(OWN_RECEIVERS).fill('ok') as 'ok'[] }),
  );
  const env = cleanUp.use(await createHeraldEnv(redis.url, ca));
  const api = cleanUp.use(await startApi({ env }));
  await registerReceivers(redis.url, env.variables.SECRETS_KEY ?? '', variant.registered - OWN_RECEIVERS);
  const delayed = variant.behind === 0 ? undefined : await addDelayed(api.port, redis, variant.behind);
  cleanUp.defer(() => delayed?.close());
  const { origins } = receivers;
  const tasks = cleanUp.use(await startTasks({ apiPort: api.port, redis, origins, tasks: TASKS }));
  const transitions = Math.ceil(count / OWN_RECEIVERS);
  const deliveries = transitions * OWN_RECEIVERS;
  let expected = 0;
  const measure = async (): Promise<Round> => {
    const startedAt = performance.now();
    await tasks.checkIn(transitions);
    const acceptedPerSecond = deliveries / ((performance.now() - startedAt) / 1_000);
    const before = expected;
    expected += deliveries;
    await delayed?.catchUp();
    await using running = new AsyncDisposableStack();
    running.use(await startWorker({ env }));
    return { acceptedPerSecond, drainedPerSecond: await watch(receivers, before, expected) };
  };
  const stack = cleanUp.move();
  return { variant, measure, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Has deliveries of a workspace of its own accepted, and lets all of them wait for their second attempt. */
async function addDelayed(apiPort: number, redis: RunningRedis, count: number): Promise<DelayedDeliveries> {
  // Nobody listens there, and nobody calls.
  const origins = Array.from({ length: OWN_RECEIVERS }, (_, index) => `https://127.0.0.1:${40_001 + index}`);
  await using tasks = await startTasks({ apiPort, redis, origins, tasks: TASKS, workspace: 'ws_behind' });
  await tasks.checkIn(Math.ceil(count / OWN_RECEIVERS));
  return await delayPending(redis.url);
}

/** Deliveries per second, from the first that is seen. */
async function watch(receivers: Receivers, before: number, expected: number): Promise<number> {
  const seenFirst = await waitFor('the first delivery', receivers.count, {
    until: (seen) => seen > before,
    deadlineMs: DEADLINE_MS,
  });
  const firstAt = Date.now();
  await waitFor('all deliveries', receivers.count, { until: (seen) => seen >= expected, deadlineMs: DEADLINE_MS });
  const lastAt = Math.max(...(await receivers.read()).map((state) => state.lastAt));
  return (expected - seenFirst) / ((lastAt - firstAt) / 1_000);
}
