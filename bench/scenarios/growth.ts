import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import { measureFloor } from '../floor.ts';
import { delayPending } from '../delay-pending.ts';
import { occupyDestinations } from '../occupy-destinations.ts';
import { registerReceivers } from '../register-receivers.ts';
import type { Scenario } from '../scenario.ts';
import { startBenchRedis } from '../start-bench-redis.ts';
import { createHeraldEnv, startApi, startWorker, type HeraldEnv } from '../start-herald.ts';
import { startReceivers, type Receivers } from '../start-receivers.ts';
import { startTasks } from '../start-tasks.ts';
import { median } from '../statistics.ts';
import type { Cell } from '../table.ts';
import { judgeGrowth } from '../targets.ts';

const OWN_RECEIVERS = 10;
const TASKS = 500;
const FLOOR_COUNT = 10_000;
const DEADLINE_MS = 600_000;

type Variant = {
  readonly name: string;
  /** Receivers of all workspaces. Default: only the measured ones. */
  readonly registered?: number;
  /** Delayed deliveries of a few destinations. */
  readonly behind?: number;
  /** Destinations with one waiting delivery each. */
  readonly destinations?: number;
};
type Round = { readonly acceptedPerSecond: number; readonly drainedPerSecond: number };
type Herald = AsyncDisposable & { readonly variant: Variant; readonly measure: () => Promise<Round> };

/** Whether Herald gets slower with more data: all variants are set up at once, and take turns. */
export const growth: Scenario = async ({ options, say }) => {
  const { count, repeats, receivers: most, behind, destinations } = options;
  const variants: Variant[] = [
    { name: `${OWN_RECEIVERS} receivers, nothing behind` },
    { name: `${Math.ceil(most / 100)} receivers`, registered: Math.ceil(most / 100) },
    { name: `${most} receivers`, registered: most },
    { name: `${behind} delayed deliveries behind`, behind },
    { name: `${destinations} destinations behind, one waiting delivery each`, destinations },
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
      'What waits at the destinations behind was tried once, in vain, by a worker, and is due in a day.',
    ],
  };
  return {
    tables: [table],
    raw: { rounds: Object.fromEntries([...rounds].map(([{ name }, some]) => [name, some])), floors },
    targets: judgeGrowth([...rounds].map(([{ name }, some]) => ({ name, rounds: some }))),
  };
};

/** Waits for its turn; a worker runs only while it drains. */
async function startVariant(variant: Variant, count: number): Promise<Herald> {
  await using cleanUp = new AsyncDisposableStack();
  const ca = await createCertificateAuthority();
  const redis = cleanUp.use(await startBenchRedis());
  const receivers = cleanUp.use(
    await startReceivers({ ca, behaviours: new Array(OWN_RECEIVERS).fill('ok') as 'ok'[] }),
  );
  const env = cleanUp.use(await createHeraldEnv(redis.url, ca));
  const api = cleanUp.use(await startApi({ env }));
  const { registered = OWN_RECEIVERS, behind = 0, destinations = 0 } = variant;
  await registerReceivers(redis.url, env.variables.SECRETS_KEY ?? '', registered - OWN_RECEIVERS);
  if (destinations > 0) await occupyDestinations(api.port, env, destinations);
  if (behind > 0) await addDelayed(api.port, redis.url, env, behind);
  const { origins } = receivers;
  const tasks = cleanUp.use(await startTasks({ apiPort: api.port, env, origins, tasks: TASKS }));
  const transitions = Math.ceil(count / OWN_RECEIVERS);
  const deliveries = transitions * OWN_RECEIVERS;
  let expected = 0;
  const measure = async (): Promise<Round> => {
    const startedAt = performance.now();
    await tasks.checkIn(transitions);
    const acceptedPerSecond = deliveries / ((performance.now() - startedAt) / 1_000);
    const before = expected;
    expected += deliveries;
    await using running = new AsyncDisposableStack();
    running.use(await startWorker({ env }));
    return { acceptedPerSecond, drainedPerSecond: await watch(receivers, before, expected) };
  };
  const stack = cleanUp.move();
  return { variant, measure, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Accepts deliveries of a separate workspace, and makes all of them wait for their second attempt. */
async function addDelayed(apiPort: number, redisUrl: string, env: HeraldEnv, count: number): Promise<void> {
  // Nothing listens there, and nothing calls.
  const origins = Array.from({ length: OWN_RECEIVERS }, (_, index) => `https://127.0.0.1:${40_001 + index}`);
  await using tasks = await startTasks({ apiPort, env, origins, tasks: TASKS, workspace: 'ws_behind' });
  await tasks.checkIn(Math.ceil(count / OWN_RECEIVERS));
  await delayPending(redisUrl);
}

/** Deliveries per second, from the first seen arrival on. */
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
