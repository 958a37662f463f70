import { createCertificateAuthority } from '@herald/test-kit';
import { addJobs } from '../floor.ts';
import { measureWorkerMemory, type WorkerMemory } from '../measure-worker-memory.ts';
import { memoryByTenth } from '../memory-by-tenth.ts';
import { readRedisMemory, type RedisMemory } from '../redis-memory.ts';
import type { Scenario } from '../scenario.ts';
import { startBenchRedis } from '../start-bench-redis.ts';
import { createHeraldEnv, startApi } from '../start-herald.ts';
import { startTasks } from '../start-tasks.ts';
import type { Cell, Table } from '../table.ts';
import { judgeOnce, TARGETS } from '../targets.ts';

const FAN_OUTS = [1, 10] as const;
const TASKS = 1_000;

/** What a pending delivery costs Redis, and whether a worker grows with what it has delivered. */
export const memory: Scenario = async ({ options: { count, deliveries }, say }) => {
  say(`memory, BullMQ's jobs alone, ${count} of them`);
  const jobBytes = await measureJobs(count);
  const perDelivery = [];
  for (const fanOut of FAN_OUTS) {
    say(`memory, fan-out ${fanOut}, ${count} deliveries`);
    perDelivery.push(await measureRedis(fanOut, count));
  }
  say(`memory of a worker over ${deliveries} deliveries`);
  const worker = await measureWorkerMemory(deliveries, say);
  const [atStart, atHalf, atEnd] = [0, 4, 9].map((tenth) => memoryByTenth(worker.samples, deliveries)[tenth]?.median);
  const targets = [
    ...perDelivery
      .filter(({ fanOut }) => fanOut === 10)
      .map(({ used }) =>
        judgeOnce('pendingBytes', 'memory: bytes of Redis per pending delivery, fan-out 10', used, jobBytes),
      ),
    judgeOnce(
      'workerGrowth',
      `memory: a worker's MiB after ${deliveries} deliveries, beside half`,
      atEnd ?? NaN,
      atHalf,
    ),
  ];
  return {
    tables: [...perDelivery.map((each) => toTable(each, jobBytes)), workerTable(worker, deliveries)],
    raw: {
      jobBytes,
      perDelivery: perDelivery.map(({ fanOut, pending, used }) => ({ fanOut, pending, used })),
      worker: { ...worker, atStart, atHalf, atEnd },
    },
    targets,
  };
};

/** The growth of used_memory for each of BullMQ's jobs, with nothing else there. */
async function measureJobs(count: number): Promise<number> {
  await using redis = await startBenchRedis();
  const before = await readRedisMemory(redis.url);
  await addJobs(redis.url, count);
  const after = await readRedisMemory(redis.url);
  return (after.usedBytes - before.usedBytes) / count;
}

type PerDelivery = {
  readonly fanOut: number;
  readonly pending: number;
  readonly before: RedisMemory;
  readonly after: RedisMemory;
  /** Bytes per pending delivery, of all that Redis took. */
  readonly used: number;
};

/** Nobody listens at the receivers' addresses, and nobody calls them. */
async function measureRedis(fanOut: number, count: number): Promise<PerDelivery> {
  const ca = await createCertificateAuthority();
  await using redis = await startBenchRedis();
  await using env = await createHeraldEnv(redis.url, ca);
  await using api = await startApi({ env });
  const origins = Array.from({ length: fanOut }, (_, index) => `https://127.0.0.1:${40_001 + index}`);
  await using tasks = await startTasks({ apiPort: api.port, redis, origins, tasks: TASKS });
  const before = await readRedisMemory(redis.url);
  const transitions = Math.ceil(count / fanOut);
  await tasks.checkIn(transitions);
  const after = await readRedisMemory(redis.url);
  const pending = transitions * fanOut;
  return { fanOut, pending, before, after, used: (after.usedBytes - before.usedBytes) / pending };
}

function toTable({ fanOut, pending, before, after, used }: PerDelivery, jobBytes: number): Table {
  const rows = [...after.kinds]
    .map(([kind, { keys, bytes }]): Cell[] => {
      const old = before.kinds.get(kind);
      return [kind, (keys - (old?.keys ?? 0)) / pending, (bytes - (old?.bytes ?? 0)) / pending];
    })
    .filter(([, , bytes]) => Number(bytes) >= 1)
    .sort(([, , a], [, , b]) => Number(b) - Number(a));
  return {
    title: `Memory of Redis: ${pending} pending deliveries, fan-out ${fanOut}`,
    columns: ['for each delivery', 'keys', 'bytes'],
    rows: [...rows, ['all that Redis took for it', '', used], ["floor: BullMQ's job alone", '', jobBytes]],
    notes: [
      `Kinds by MEMORY USAGE; the last two rows are the growth of used_memory without buffers, Redis' tables of keys included. Target at fan-out 10: ${TARGETS.pendingBytes.words}.`,
    ],
  };
}

function workerTable({ samples, settledBytes, perSecond }: WorkerMemory, count: number): Table {
  return {
    title: `Memory of a worker over ${count} deliveries, in MiB`,
    columns: ['delivered', 'median', 'least', 'most'],
    rows: memoryByTenth(samples, count).map(({ delivered, median, least, most }): Cell[] => [
      ...[delivered.toLocaleString('en'), median, least, most],
    ]),
    notes: [
      `Resident memory (VmRSS), ${samples.length} samples; each row tells the half of its tenth that ends there.`,
      `Accepted and delivered at ${Math.round(perSecond)}/s meanwhile. A settled delivery takes ${Math.round(settledBytes)} bytes of Redis while it is kept.`,
    ],
  };
}
