import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import { checkIn, openApiClient, START } from '../clients.ts';
import { createKeys } from '../prepare-workspaces.ts';
import type { Scenario } from '../run-scenarios.ts';
import { createHeraldEnv, startApi, startBenchRedis } from '../start-herald.ts';
import { startProgram } from '../start-receivers.ts';
import { type Cell, percentile } from '../table.ts';
import { judgeWorst } from '../targets.ts';
import { startCpuReading } from '../usage.ts';

/**
 * The effect of slow and idle clients on healthy requests. The run without them comes first; all ratios refer to it.
 */
export const slowClients: Scenario = async ({ options: { seconds }, say }) => {
  refuseFewFiles();
  const measured: { name: string; figures: SlowClientsFigures }[] = [];
  for (const variant of SLOW_VARIANTS) {
    say(`slow-clients, ${variant.name}, ${seconds} s`);
    measured.push({ name: variant.name, figures: await measureSlowClients(variant, seconds) });
  }
  const floor = measured[0]?.figures;
  const rows = measured.map(({ name, figures }, index): Cell[] => {
    const { requests, p50Ms, p99Ms, maxMs, leastHeld, reopened, apiCpu, apiMiB } = figures;
    const ratio = index === 0 || !floor ? NaN : p99Ms / floor.p99Ms;
    return [name, String(requests), p50Ms, p99Ms, maxMs, ratio, leastHeld, reopened, apiCpu, apiMiB];
  });
  const beside = measured.filter((_, index) => Object.keys(SLOW_VARIANTS[index]?.groups ?? {}).length > 0);
  const targets = judgeWorst(
    'slowClients',
    'slow clients: healthy p99 ms',
    beside.map(({ name, figures }) => ({ name, value: figures.p99Ms })),
    floor?.p99Ms,
  );
  const table = {
    title: `Slow clients: 100 healthy requests/s to one API, ${seconds} s each`,
    columns: [
      ...['run', 'requests', 'healthy p50 ms', 'p99', 'max', 'p99 ratio', 'least held', 'reopened'],
      ...['API CPU s/min', 'API MiB'],
    ],
    rows,
    notes: [
      'Half of the healthy requests report a transition, half read a Task, one in ten over a new connection; timed from when each was due.',
      'least held: fewest slow connections open at a time; reopened: closed by the API, and opened again. The slow clients share the processors.',
      'Trust nothing when the two floors differ: other programs took the processors then.',
    ],
  };
  return { tables: [table], raw: { measured }, targets };
};

/** Node raises its limit of open files as far as the system allows. Beyond that the user must raise it. */
function refuseFewFiles(): void {
  const limit = execFileSync('/bin/sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim();
  if (limit !== 'unlimited' && Number(limit) < NEEDED_FILES) {
    throw new Error(
      `slow-clients needs ${NEEDED_FILES} open files per process, and the limit is ${limit}: ulimit -n raises it`,
    );
  }
}

type SlowClientsFigures = {
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
async function measureSlowClients({ groups }: SlowVariant, seconds: number): Promise<SlowClientsFigures> {
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

/**
 * `silent` connects and sends nothing; `idle` makes one request and keeps its connection; `slow-headers` and
 * `slow-body` send a byte a second, the latter with a valid API key.
 */
export type SlowBehaviour = 'silent' | 'idle' | 'slow-headers' | 'slow-body';

export type SlowClientsInput = {
  readonly port: number;
  /** How many connections are held of each kind. */
  readonly groups: Readonly<Partial<Record<SlowBehaviour, number>>>;
  readonly key: string;
};

/** Connections that are open now, and how many were opened again after the API had closed them. */
export type SlowClientsReply = { readonly open: number; readonly reopened: number };

type SlowVariant = { readonly name: string; readonly groups: SlowClientsInput['groups'] };

const MANY = 10_000;
const SOME = 1_000;

/**
 * The first has no slow clients: the others are compared with it. The last repeats it, and shows changes of the machine
 * itself.
 */
const SLOW_VARIANTS: readonly SlowVariant[] = [
  { name: 'floor: no slow clients', groups: {} },
  { name: `${MANY} idle connections`, groups: { idle: MANY } },
  { name: `${MANY} silent connections`, groups: { silent: MANY } },
  { name: `${SOME} slow headers`, groups: { 'slow-headers': SOME } },
  { name: `${SOME} slow bodies`, groups: { 'slow-body': SOME } },
  { name: 'all of them, most idle', groups: { idle: MANY, silent: SOME, 'slow-headers': SOME, 'slow-body': SOME } },
  { name: 'floor again', groups: {} },
];

/** Files that a process must be able to have open. */
const NEEDED_FILES = MANY + 3 * SOME + 500;
