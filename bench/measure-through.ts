import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import type { Build } from './builds.ts';
import { startCpuReading } from './cpu-time.ts';
import { startBenchRedis, type Fsync } from './start-bench-redis.ts';
import { createHeraldEnv, startApi, startWorker } from './start-herald.ts';
import { startReceivers } from './start-receivers.ts';
import { startTasks } from './start-tasks.ts';

const TASKS = 1_000;
const WARM_UP = 0.1;
const DEADLINE_MS = 600_000;

export type ThroughPlan = {
  readonly count: number;
  /** Receivers of every transition. */
  readonly fanOut: number;
  readonly fsync: Fsync;
  readonly build: Build;
};

export type Through = {
  readonly perSecond: number;
  readonly acceptedPerSecond: number;
  /** CPU per accepted and sent delivery; `herald` is API, worker and Redis. */
  readonly cpuUs: Readonly<Record<'api' | 'worker' | 'redis' | 'herald' | 'receiver', number>>;
};

/** An executor reports in batches while a worker delivers, on the same processors. */
export async function measureThrough({ count, fanOut, fsync, build }: ThroughPlan): Promise<Through> {
  const ca = await createCertificateAuthority();
  await using redis = await startBenchRedis(fsync);
  await using receivers = await startReceivers({ ca, behaviours: new Array(fanOut).fill('ok') as 'ok'[] });
  await using env = await createHeraldEnv(redis.url, ca, build);
  await using api = await startApi({ env });
  await using worker = await startWorker({ env });
  await using tasks = await startTasks({ apiPort: api.port, env, origins: receivers.origins, tasks: TASKS });
  const arrived = (expected: number) =>
    waitFor('all deliveries', receivers.count, { until: (seen) => seen >= expected, deadlineMs: DEADLINE_MS });
  const warmUp = Math.ceil((count * WARM_UP) / fanOut);
  await tasks.checkIn(warmUp);
  await arrived(warmUp * fanOut);

  const transitions = Math.ceil(count / fanOut);
  const deliveries = transitions * fanOut;
  const readCpu = startCpuReading({ api: api.pid, worker: worker.pid, redis: redis.pid, receiver: receivers.pid });
  const startedAt = Date.now();
  await tasks.checkIn(transitions);
  const acceptedAt = Date.now();
  await arrived(warmUp * fanOut + deliveries);
  const cpuMs = readCpu();
  const lastAt = Math.max(...(await receivers.read()).map((state) => state.lastAt));
  const toUs = (ms: number) => (ms * 1_000) / deliveries;
  return {
    perSecond: deliveries / ((lastAt - startedAt) / 1_000),
    acceptedPerSecond: deliveries / ((acceptedAt - startedAt) / 1_000),
    cpuUs: {
      api: toUs(cpuMs.api),
      worker: toUs(cpuMs.worker),
      redis: toUs(cpuMs.redis),
      herald: toUs(cpuMs.api + cpuMs.worker + cpuMs.redis),
      receiver: toUs(cpuMs.receiver),
    },
  };
}
