import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import { Worker } from 'bullmq';
import { startCpuReading } from '../usage.ts';
import type { NoopWorkerInput } from '../floor.ts';
import { readInput, reply } from './program-io.ts';

// Only BullMQ: takes every job and does nothing, with the settings of the real worker.

const { redisUrl, queue, prefix, count, concurrency, pids } = readInput() as NoopWorkerInput;
const redis = await connectRedis({
  target: { kind: 'single', url: redisUrl },
  use: 'background',
  name: 'bench-noop',
  onError: () => undefined,
});
let taken = 0;
let firstAt = 0;
let readCpu = startCpuReading(pids);
let usedBefore = process.cpuUsage();
const { promise: done, resolve } = Promise.withResolvers<undefined>();

const worker = new Worker(
  queue,
  () => {
    if (taken++ === 0) {
      firstAt = performance.now();
      readCpu = startCpuReading(pids);
      usedBefore = process.cpuUsage();
    }
    return Promise.resolve();
  },
  {
    connection: redis,
    prefix,
    concurrency,
    lockDuration: 20_000,
    stalledInterval: 5_000,
    maxStalledCount: 20,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  },
);
worker.on('error', () => undefined);
let completed = 0;
worker.on('completed', () => {
  if (++completed === count) resolve(undefined);
});
await done;
const seconds = (performance.now() - firstAt) / 1_000;
const { user, system } = process.cpuUsage(usedBefore);
reply({
  perSecond: count / seconds,
  cpuUs: { worker: (user + system) / count, redis: (readCpu().redis * 1_000) / count },
});
await worker.close();
await closeRedis(redis);
