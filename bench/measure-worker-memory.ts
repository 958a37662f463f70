import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import { setTimeout as pause } from 'node:timers/promises';
import type { Build } from './builds.ts';
import { FAST_RECEIVERS } from './floor.ts';
import { readRedisMemory } from './redis-memory.ts';
import { readResidentMiB } from './resident-set.ts';
import { startBenchRedis } from './start-bench-redis.ts';
import { createHeraldEnv, startApi, startWorker } from './start-herald.ts';
import { startReceivers } from './start-receivers.ts';
import { startTasks } from './start-tasks.ts';

/** A worker's memory after a number of deliveries. */
export type MemorySample = { readonly delivered: number; readonly MiB: number };
export type WorkerMemory = {
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
export async function measureWorkerMemory(
  count: number,
  build: Build,
  say: (line: string) => void,
): Promise<WorkerMemory> {
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
