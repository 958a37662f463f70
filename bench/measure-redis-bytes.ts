import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import type { Build } from './builds.ts';
import { readRedisMemory, type RedisMemory } from './redis-memory.ts';
import { startBenchRedis } from './start-bench-redis.ts';
import { createHeraldEnv, startApi, startWorker } from './start-herald.ts';
import { startReceivers } from './start-receivers.ts';
import { startTasks } from './start-tasks.ts';

const TASKS = 1_000;
const DEADLINE_MS = 600_000;

export type RedisBytes = {
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
export async function measureRedisBytes(fanOut: number, count: number, build: Build): Promise<RedisBytes> {
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
  await waitFor('all deliveries', receivers.count, { until: (seen) => seen >= deliveries, deadlineMs: DEADLINE_MS });
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
