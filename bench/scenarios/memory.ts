import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import { setTimeout as pause } from 'node:timers/promises';
import { FAST_RECEIVERS } from '../floor.ts';
import { readRedisMemory, type RedisMemory } from '../redis-memory.ts';
import { readResidentMiB } from '../resident-set.ts';
import type { Scenario } from '../scenario.ts';
import { startBenchRedis } from '../start-bench-redis.ts';
import { createHeraldEnv, startApi, startWorker } from '../start-herald.ts';
import { startReceivers } from '../start-receivers.ts';
import { startTasks } from '../start-tasks.ts';
import { median } from '../statistics.ts';
import type { Cell, Table } from '../table.ts';

const FAN_OUTS = [1, 10] as const;
const TARGET_BYTES = 1_100;
const TASKS = 1_000;
const SAMPLE_EVERY_MS = 250;
const DRAIN_DEADLINE_MS = 3_600_000;
/** Deliveries accepted before the worker is given them, so that Redis needn't hold them all. */
const PORTION = 20_000;

/** What a pending delivery costs Redis, and whether a worker grows with what it has delivered. */
export const memory: Scenario = async ({ options: { count }, say }) => {
  const perDelivery = [];
  for (const fanOut of FAN_OUTS) {
    say(`memory, fan-out ${fanOut}, ${count} deliveries`);
    perDelivery.push(await measureRedis(fanOut, count));
  }
  say(`memory of a worker over ${count} deliveries`);
  const worker = await measureWorker(count);
  const tables: Table[] = [
    ...perDelivery.map(toTable),
    {
      title: `Memory of a worker over ${count} deliveries`,
      columns: ['resident MiB', 'at the start', 'at half', 'at the end', 'end to half'],
      rows: [['worker', worker.atStart, worker.atHalf, worker.atEnd, worker.atEnd / worker.atHalf]],
      notes: ['Medians of the last tenth before each point. Target: at most 1.10. --count says how many.'],
    },
  ];
  return {
    tables,
    raw: { perDelivery: perDelivery.map(({ fanOut, pending, used }) => ({ fanOut, pending, used })), worker },
  };
};

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

function toTable({ fanOut, pending, before, after, used }: PerDelivery): Table {
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
    rows: [...rows, ['all that Redis took for it', '', used]],
    notes: [
      `Kinds by MEMORY USAGE; the last row is the growth of used_memory without buffers, Redis' tables of keys included. Target at fan-out 10: ${TARGET_BYTES}.`,
    ],
  };
}

type WorkerMemory = Readonly<Record<'atStart' | 'atHalf' | 'atEnd', number>>;

async function measureWorker(count: number): Promise<WorkerMemory> {
  const ca = await createCertificateAuthority();
  await using redis = await startBenchRedis();
  await using receivers = await startReceivers({ ca, behaviours: new Array(FAST_RECEIVERS).fill('ok') as 'ok'[] });
  await using env = await createHeraldEnv(redis.url, ca);
  await using api = await startApi({ env });
  await using tasks = await startTasks({ apiPort: api.port, redis, origins: receivers.origins, tasks: TASKS });
  await using worker = await startWorker({ env });
  const samples: { readonly delivered: number; readonly MiB: number }[] = [];
  const stopped = new AbortController();
  const sampling = (async () => {
    while (!stopped.signal.aborted) {
      samples.push({ delivered: await receivers.count(), MiB: readResidentMiB(worker.pid) });
      await pause(SAMPLE_EVERY_MS);
    }
  })();
  try {
    for (let accepted = 0; accepted < count;) {
      const portion = Math.min(PORTION, count - accepted);
      await tasks.checkIn(Math.ceil(portion / 10));
      accepted += portion;
      const until = (delivered: number) => delivered >= accepted - PORTION / 2 || delivered >= count;
      await waitFor('deliveries', receivers.count, { until, deadlineMs: DRAIN_DEADLINE_MS });
    }
    await waitFor('all deliveries', receivers.count, { until: (seen) => seen >= count, deadlineMs: DRAIN_DEADLINE_MS });
  } finally {
    stopped.abort();
    await sampling;
  }
  const before = (share: number) =>
    median(
      samples
        .filter(({ delivered }) => delivered > (share - 0.1) * count && delivered <= share * count)
        .map(({ MiB }) => MiB),
    );
  return { atStart: before(0.1), atHalf: before(0.5), atEnd: before(1) };
}
