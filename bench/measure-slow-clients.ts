import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { openApiClient } from './api-client.ts';
import { createKeys } from './create-keys.ts';
import { startCpuReading } from './cpu-time.ts';
import { checkIn, START } from './executor.ts';
import { startProgram } from './run-program.ts';
import type { SlowClientsInput, SlowClientsReply, SlowVariant } from './slow-clients-variants.ts';
import { startBenchRedis } from './start-bench-redis.ts';
import { createHeraldEnv, startApi } from './start-herald.ts';
import { percentile } from './statistics.ts';

export type SlowClientsFigures = {
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Fewest slow connections that were seen open at a time. */
  readonly leastHeld: number;
  readonly reopened: number;
  /** CPU seconds per minute. */
  readonly apiCpu: number;
  readonly apiMiB: number;
};

const PER_SECOND = 100;
const CONNECTIONS = 16;
const TASKS = 50;
/** Healthy requests at the beginning that are not counted. */
const WARM_UP = 200;
/** One in so many requests uses a new connection. */
const NEW_CONNECTION_EVERY = 10;

/**
 * Healthy requests at a steady rate, beside slow clients. A request's time runs from its planned start, so that delays
 * don't hide.
 */
export async function measureSlowClients({ groups }: SlowVariant, seconds: number): Promise<SlowClientsFigures> {
  const ca = await createCertificateAuthority();
  await using redis = await startBenchRedis();
  await using env = await createHeraldEnv(redis.url, ca);
  await using api = await startApi({ env });
  const { executorKey, workspaceKeys } = await createKeys(env, ['ws_bench']);
  const key = workspaceKeys.get('ws_bench') ?? '';
  const open = (asKey: string, connections = CONNECTIONS) => openApiClient({ port: api.port, key: asKey, connections });
  await using customer = open(key);
  await using executor = open(executorKey);
  const taskIds = await Promise.all(
    Array.from({ length: TASKS }, async () => {
      const { id } = (await customer.call('POST', '/tasks', {})) as { id: string };
      await executor.call('POST', `/api/internal/tasks/${id}/transitions`, START);
      return id;
    }),
  );
  const seen: SlowClientsReply[] = [];
  await using slowClients = await startProgram(
    'slow-clients',
    { port: api.port, groups, key } satisfies SlowClientsInput,
    (said) => seen.push(said as SlowClientsReply),
  );
  await waitFor('the slow clients to be connected', () => slowClients.hasExited() || seen.length > 0, 60_000);
  if (slowClients.hasExited()) throw new Error(`the slow clients ended\n${slowClients.tail()}`);

  const requests: Promise<number>[] = [];
  const send = async (index: number, dueAt: number): Promise<number> => {
    const isNew = index % NEW_CONNECTION_EVERY === 0;
    const isReport = index % 2 === 1;
    const fresh = isNew ? open(key, 1) : undefined;
    if (isReport) {
      const path = `/api/internal/tasks/${taskIds[index % TASKS] ?? ''}/transitions`;
      await executor.call('POST', path, checkIn(index));
    } else await (fresh ?? customer).call('GET', `/tasks/${taskIds[index % TASKS] ?? ''}`);
    const took = performance.now() - dueAt;
    await fresh?.[Symbol.asyncDispose]();
    return took;
  };
  const count = PER_SECOND * seconds + WARM_UP;
  const startedAt = performance.now();
  let readCpu = startCpuReading({ api: api.pid });
  let countedFrom = startedAt;
  let repliesBefore = 0;
  for (let index = 0; index < count; index++) {
    const dueAt = startedAt + (index * 1_000) / PER_SECOND;
    await pause(Math.max(0, dueAt - performance.now()));
    if (index === WARM_UP) {
      readCpu = startCpuReading({ api: api.pid });
      countedFrom = performance.now();
      repliesBefore = seen.length - 1;
    }
    requests.push(send(index, dueAt));
  }
  const times = (await Promise.all(requests)).slice(WARM_UP).sort((a, b) => a - b);
  const minutes = (performance.now() - countedFrom) / 60_000;
  return {
    requests: times.length,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    maxMs: times.at(-1) ?? NaN,
    leastHeld: Math.min(...seen.slice(repliesBefore).map((said) => said.open)),
    reopened: (seen.at(-1)?.reopened ?? 0) - (seen[repliesBefore]?.reopened ?? 0),
    apiCpu: readCpu().api / 1_000 / minutes,
    apiMiB: readResidentMiB(api.pid),
  };
}

/** NaN where there is no /proc. */
function readResidentMiB(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1_024;
  } catch {
    return NaN;
  }
}
