import { setTimeout as pause } from 'node:timers/promises';
import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import { startTasks } from '../prepare-workspaces.ts';
import type { Scenario } from '../run-scenarios.ts';
import { type Build, createHeraldEnv, startApi, startBenchRedis, startWorker } from '../start-herald.ts';
import { startReceivers } from '../start-receivers.ts';
import { type Cell, median, type Table } from '../table.ts';
import { createTurns, judgeOnce, TARGETS } from '../targets.ts';
import { readRedisMemory, readResidentMiB, type RedisMemory } from '../usage.ts';
import { addBareJobs, FAST_RECEIVERS } from '../floor.ts';

const FAN_OUT = 10;

/** Deliveries with one endpoint for each transition, and deliveries that share a transition. */
type Bytes = { readonly alone: RedisBytes; readonly shared: RedisBytes };

/** Redis memory of a pending and of a settled delivery, and whether a worker grows with its deliveries. */
export const memory: Scenario = async ({ options: { count, deliveries, builds }, say }) => {
  say(`memory, BullMQ's jobs alone, ${count} of them`);
  const jobBytes = await measureJobs(count);
  const bytes = createTurns<Bytes>(builds);
  say(`memory, fan-out 1 and ${FAN_OUT}, ${count} deliveries`);
  await bytes.take(async (build) => ({
    alone: await measureRedisBytes(1, count, build),
    shared: await measureRedisBytes(FAN_OUT, count, build),
  }));
  const workers = createTurns<WorkerMemory>(builds);
  say(`memory of a worker over ${deliveries} deliveries`);
  await workers.take((build) => measureWorkerMemory(deliveries, build, say));
  const residentAfter = (tenths: number) => (worker: WorkerMemory) =>
    memoryByTenth(worker.samples, deliveries)[tenths - 1]?.median ?? NaN;
  const perDelivery = bytes.all.flatMap(({ rounds, title }) =>
    rounds.flatMap(({ alone, shared }) => [
      kindsTable(title('fan-out 1'), alone, jobBytes),
      kindsTable(title(`fan-out ${FAN_OUT}`), shared, jobBytes),
      settledTable(title('own and shared'), { alone, shared }),
    ]),
  );
  return {
    tables: [
      ...perDelivery,
      ...workers.all.flatMap(({ rounds, title }) =>
        rounds.map((worker) => workerTable(title(`${deliveries} deliveries`), worker, deliveries)),
      ),
    ],
    raw: {
      jobBytes,
      bytes: bytes.all.map(({ build, rounds }) => ({ build, rounds: rounds.map(withoutKinds) })),
      workers: workers.all,
    },
    targets: [
      ...bytes.own.flatMap((round) => [
        judgeOnce(
          'pendingBytes',
          `memory: bytes of Redis per pending delivery, fan-out ${FAN_OUT}`,
          round.shared.pendingBytes,
          jobBytes,
        ),
        judgeOnce('settledBytes', 'memory: bytes of Redis per settled delivery beside its shared body', settled(round)),
      ]),
      ...workers.own.map((worker) =>
        judgeOnce(
          'workerGrowth',
          `memory: a worker's MiB after ${deliveries} deliveries, beside half`,
          residentAfter(10)(worker),
          residentAfter(5)(worker),
        ),
      ),
    ],
    compared: [
      ...bytes.compare(`memory: bytes per pending delivery, fan-out ${FAN_OUT}`, ({ shared }) => shared.pendingBytes),
      ...bytes.compare('memory: bytes per settled delivery beside its shared body', settled),
      ...workers.compare(`memory: a worker's MiB after ${deliveries} deliveries`, residentAfter(10)),
    ],
  };
};

function settled({ alone, shared }: Bytes): number {
  return besideShared(alone.settledBytes, shared.settledBytes, FAN_OUT);
}

function withoutKinds({ alone, shared }: Bytes) {
  const pick = ({ deliveries, pendingBytes, settledBytes }: RedisBytes) => ({ deliveries, pendingBytes, settledBytes });
  return { alone: pick(alone), shared: pick(shared) };
}

/** The growth of used_memory per BullMQ job, in an otherwise empty Redis. */
async function measureJobs(count: number): Promise<number> {
  await using redis = await startBenchRedis();
  const before = await readRedisMemory(redis.url);
  await addBareJobs(redis.url, count);
  const after = await readRedisMemory(redis.url);
  return (after.usedBytes - before.usedBytes) / count;
}

function kindsTable(
  name: string,
  { deliveries, before, pending, settled, ...of }: RedisBytes,
  jobBytes: number,
): Table {
  const perDelivery = (memory: RedisMemory, kind: string) =>
    ((memory.kinds.get(kind)?.bytes ?? 0) - (before.kinds.get(kind)?.bytes ?? 0)) / deliveries;
  const rows = [...new Set([...pending.kinds.keys(), ...settled.kinds.keys()])]
    .map((kind): Cell[] => [kind, perDelivery(pending, kind), perDelivery(settled, kind)])
    .filter(([, ...bytes]) => bytes.some((each) => Number(each) >= 1))
    .sort(([, a], [, b]) => Number(b) - Number(a));
  return {
    title: `Memory of Redis: ${deliveries} deliveries, ${name}`,
    columns: ['bytes for each delivery', 'pending', 'settled'],
    rows: [
      ...rows,
      ['all that Redis took for it', of.pendingBytes, of.settledBytes],
      ["floor: BullMQ's job alone", jobBytes, NaN],
    ],
    notes: [
      `Kinds by MEMORY USAGE; the last two rows are the growth of used_memory without buffers, Redis' tables of keys included. Target of a pending one at fan-out ${FAN_OUT}: ${TARGETS.pendingBytes.words}.`,
    ],
  };
}

function settledTable(name: string, { alone, shared }: Bytes): Table {
  const row = (label: string, read: (bytes: RedisBytes) => number): Cell[] => {
    const own = besideShared(read(alone), read(shared), FAN_OUT);
    return [label, own, read(alone) - own, read(shared)];
  };
  return {
    title: `Memory of Redis: ${name}`,
    columns: ['bytes', 'a delivery beside what it shares', 'shared by its transition', `all, fan-out ${FAN_OUT}`],
    rows: [row('pending', ({ pendingBytes }) => pendingBytes), row('settled', ({ settledBytes }) => settledBytes)],
    notes: [
      `Told from fan-out 1 and ${FAN_OUT}. Settled with one attempt, and kept. Target beside the shared body: ${TARGETS.settledBytes.words}.`,
    ],
  };
}

function workerTable(name: string, { samples, settledBytes, perSecond }: WorkerMemory, count: number): Table {
  return {
    title: `Memory of a worker over ${name}, in MiB`,
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

/** A worker's memory after a number of deliveries. */
type MemorySample = { readonly delivered: number; readonly MiB: number };
type WorkerMemory = {
  readonly samples: readonly MemorySample[];
  /** Bytes of Redis per settled delivery. */
  readonly settledBytes: number;
  readonly perSecond: number;
};

const RECEIVERS_PER_WORKSPACE = 10;
const TASKS = 1_000;
const SAMPLE_EVERY_MS = 250;
const DEADLINE_MS = 3_600_000;
/** Deliveries that are accepted ahead of the worker, so that they don't pile up. */
const PORTION = 20_000;

/** A single worker sends deliveries while they are accepted. */
async function measureWorkerMemory(count: number, build: Build, say: (line: string) => void): Promise<WorkerMemory> {
  const ca = await createCertificateAuthority();
  await using redis = await startBenchRedis();
  await using receivers = await startReceivers({ ca, behaviours: new Array(FAST_RECEIVERS).fill('ok') as 'ok'[] });
  await using env = await createHeraldEnv(redis.url, ca, build);
  await using api = await startApi({ env });
  await using tasks = await startTasks({ apiPort: api.port, env, origins: receivers.origins, tasks: TASKS });
  await using worker = await startWorker({ env });
  const before = await readRedisMemory(redis.url);
  const samples: MemorySample[] = [];
  const stopped = new AbortController();
  const sampling = (async () => {
    while (!stopped.signal.aborted) {
      samples.push({ delivered: await receivers.count(), MiB: readResidentMiB(worker.pid) });
      await pause(SAMPLE_EVERY_MS);
    }
  })();
  const startedAt = performance.now();
  const arrive = (least: number) =>
    waitFor('deliveries', receivers.count, { until: (seen) => seen >= least, deadlineMs: DEADLINE_MS });
  try {
    for (let accepted = 0; accepted < count;) {
      const portion = Math.min(PORTION, count - accepted);
      await tasks.checkIn(Math.ceil(portion / RECEIVERS_PER_WORKSPACE));
      accepted += portion;
      await arrive(Math.min(count, accepted - PORTION / 2));
      const isTenth = Math.floor((accepted * 10) / count) > Math.floor(((accepted - portion) * 10) / count);
      if (isTenth) say(`${accepted} of ${count} accepted, worker at ${Math.round(readResidentMiB(worker.pid))} MiB`);
    }
    await arrive(count);
  } finally {
    stopped.abort();
    await sampling;
  }
  const perSecond = count / ((performance.now() - startedAt) / 1_000);
  await worker.stop(); // the last records are written
  const after = await readRedisMemory(redis.url);
  return { samples, settledBytes: (after.usedBytes - before.usedBytes) / count, perSecond };
}

const ARRIVED_WITHIN_MS = 600_000;

type RedisBytes = {
  readonly deliveries: number;
  /** Memory of an empty Herald with its Tasks, with everything accepted, and with everything sent and kept. */
  readonly before: RedisMemory;
  readonly pending: RedisMemory;
  readonly settled: RedisMemory;
  /** Redis memory per delivery in bytes, its part of the transition included. */
  readonly pendingBytes: number;
  readonly settledBytes: number;
};

/** Accepts deliveries while no worker runs, and then sends each with one attempt. */
async function measureRedisBytes(fanOut: number, count: number, build: Build): Promise<RedisBytes> {
  const ca = await createCertificateAuthority();
  await using redis = await startBenchRedis();
  await using receivers = await startReceivers({ ca, behaviours: new Array(fanOut).fill('ok') as 'ok'[] });
  await using env = await createHeraldEnv(redis.url, ca, build);
  await using api = await startApi({ env });
  await using tasks = await startTasks({ apiPort: api.port, env, origins: receivers.origins, tasks: TASKS });
  const before = await readRedisMemory(redis.url);
  const transitions = Math.ceil(count / fanOut);
  const deliveries = transitions * fanOut;
  await tasks.checkIn(transitions);
  const pending = await readRedisMemory(redis.url);
  await using worker = await startWorker({ env });
  await waitFor('all deliveries', receivers.count, {
    until: (seen) => seen >= deliveries,
    deadlineMs: ARRIVED_WITHIN_MS,
  });
  await worker.stop(); // the last records are written
  const settled = await readRedisMemory(redis.url);
  const bytesOf = ({ usedBytes }: RedisMemory) => (usedBytes - before.usedBytes) / deliveries;
  return { deliveries, before, pending, settled, pendingBytes: bytesOf(pending), settledBytes: bytesOf(settled) };
}

/**
 * Splits the bytes of a delivery into its own and those of its transition, with the body. At fan-out n a delivery has
 * the n-th part of its transition, so two fan-outs give both figures, for any layout of the data.
 */
export function besideShared(alone: number, many: number, fanOut: number): number {
  return (fanOut * many - alone) / (fanOut - 1);
}

/** MiB near the end of a tenth of all deliveries. */
type TenthOfMemory = {
  /** Deliveries at its end. */
  readonly delivered: number;
  readonly median: number;
  readonly least: number;
  readonly most: number;
};

/** Uses the second half of each tenth: close to its end, and longer than a garbage collection. */
export function memoryByTenth(samples: readonly MemorySample[], count: number): TenthOfMemory[] {
  return Array.from({ length: 10 }, (_, index) => {
    const end = ((index + 1) / 10) * count;
    const start = end - count / 20;
    const sizes = samples.filter(({ delivered }) => delivered > start && delivered <= end).map(({ MiB }) => MiB);
    return {
      delivered: Math.round(end),
      median: median(sizes),
      least: sizes.length > 0 ? Math.min(...sizes) : NaN,
      most: sizes.length > 0 ? Math.max(...sizes) : NaN,
    };
  });
}
