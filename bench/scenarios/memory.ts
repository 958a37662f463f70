import { addBareJobs } from '../add-bare-jobs.ts';
import { besideShared, measureRedisBytes, type RedisBytes } from '../measure-redis-bytes.ts';
import { measureWorkerMemory, type WorkerMemory } from '../measure-worker-memory.ts';
import { memoryByTenth } from '../memory-by-tenth.ts';
import { readRedisMemory, type RedisMemory } from '../redis-memory.ts';
import type { Scenario } from '../scenario.ts';
import { startBenchRedis } from '../start-bench-redis.ts';
import type { Cell, Table } from '../table.ts';
import { judgeOnce, TARGETS } from '../targets.ts';
import { createTurns } from '../turns.ts';

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
