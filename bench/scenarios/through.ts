import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import { startCpuReading } from '../cpu-time.ts';
import { measureFloor, type FloorRound } from '../floor.ts';
import type { Scenario } from '../scenario.ts';
import { startBenchRedis } from '../start-bench-redis.ts';
import { createHeraldEnv, startApi, startWorker } from '../start-herald.ts';
import { startReceivers } from '../start-receivers.ts';
import { startTasks } from '../start-tasks.ts';
import { median, spread } from '../statistics.ts';
import { judgeRounds, TARGETS } from '../targets.ts';

const RECEIVERS = 10;
const TASKS = 1_000;
const WARM_UP = 0.1;
const DEADLINE_MS = 600_000;

type Through = {
  readonly perSecond: number;
  readonly acceptedPerSecond: number;
  readonly cpuUs: Readonly<Record<'api' | 'worker' | 'redis' | 'receiver', number>>;
};

/** Everything at once: an executor reports in batches, and a worker delivers meanwhile to ten receivers on the same processors. */
export const through: Scenario = async ({ options: { count, repeats }, say }) => {
  const floors: FloorRound[] = [];
  const rounds: Through[] = [];
  for (let round = 1; round <= repeats; round++) {
    say(`through, round ${round} of ${repeats}`);
    floors.push(await measureFloor(count));
    rounds.push(await measureThrough(count));
  }
  const floorRates = floors.map(({ composed }) => composed.perSecond);
  const ratios = rounds.map(({ perSecond }, index) => perSecond / (floorRates[index] ?? NaN));
  const cpu = (name: keyof Through['cpuUs']) => median(rounds.map(({ cpuUs }) => cpuUs[name]));
  const rates = rounds.map(({ perSecond }) => perSecond);
  const table = {
    title: `Through: ${count} deliveries from the report to the receiver, fan-out 10, median of ${repeats}`,
    columns: ['deliveries', 'per s', 'spread', 'of the floor', 'µs CPU: API', 'worker', 'Redis', 'receivers'],
    rows: [
      ['floor: BullMQ + got, composed', median(floorRates), percent(spread(floorRates)), 1, NaN, NaN, NaN, NaN],
      [
        ...['through', median(rates), percent(spread(rates)), median(ratios)],
        ...[cpu('api'), cpu('worker'), cpu('redis'), cpu('receiver')],
      ],
    ],
    notes: [
      `From the first report to the last arrival, in batches of 100. Target: ${TARGETS.through.words} per s, all of it on two cores.`,
      `All accepted at ${Math.round(median(rounds.map(({ acceptedPerSecond }) => acceptedPerSecond)))} deliveries/s meanwhile. The floor only delivers; it accepts nothing.`,
    ],
  };
  const paired = rates.map((measured, index) => ({ measured, floor: floorRates[index] ?? NaN }));
  const targets = [judgeRounds('through', 'through: batches, fan-out 10, ten receivers, deliveries/s', paired)];
  return { tables: [table], raw: { floors, rounds }, targets };
};

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

async function measureThrough(count: number): Promise<Through> {
  const ca = await createCertificateAuthority();
  await using redis = await startBenchRedis();
  await using receivers = await startReceivers({ ca, behaviours: new Array(RECEIVERS).fill('ok') as 'ok'[] });
  await using env = await createHeraldEnv(redis.url, ca);
  await using api = await startApi({ env });
  await using worker = await startWorker({ env });
  await using tasks = await startTasks({ apiPort: api.port, redis, origins: receivers.origins, tasks: TASKS });
  const arrived = (expected: number) =>
    waitFor('all deliveries', receivers.count, { until: (seen) => seen >= expected, deadlineMs: DEADLINE_MS });
  const warmUp = Math.ceil((count * WARM_UP) / RECEIVERS);
  await tasks.checkIn(warmUp);
  await arrived(warmUp * RECEIVERS);

  const transitions = Math.ceil(count / RECEIVERS);
  const deliveries = transitions * RECEIVERS;
  const readCpu = startCpuReading({ api: api.pid, worker: worker.pid, redis: redis.pid, receiver: receivers.pid });
  const startedAt = Date.now();
  await tasks.checkIn(transitions);
  const acceptedAt = Date.now();
  await arrived(warmUp * RECEIVERS + deliveries);
  const cpuMs = readCpu();
  const lastAt = Math.max(...(await receivers.read()).map((state) => state.lastAt));
  const toUs = (ms: number) => (ms * 1_000) / deliveries;
  return {
    perSecond: deliveries / ((lastAt - startedAt) / 1_000),
    acceptedPerSecond: deliveries / ((acceptedAt - startedAt) / 1_000),
    cpuUs: {
      ...{ api: toUs(cpuMs.api), worker: toUs(cpuMs.worker) },
      ...{ redis: toUs(cpuMs.redis), receiver: toUs(cpuMs.receiver) },
    },
  };
}
