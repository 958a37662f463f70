import { createCertificateAuthority, type RunningRedisSentinels, startRedisSentinels } from '@herald/test-kit';
import type { Scenario } from '../run-scenarios.ts';
import { createHeraldEnv } from '../start-herald.ts';
import { type Cell, median, type Table } from '../table.ts';
import { type Accepted, BATCH, CONNECTIONS, measureBatches, measureSingles, withApi, withApiOn } from './accept.ts';
import { type Drained, measureDrain, planDrain } from './drain.ts';

const WORKERS = [1, 2] as const;
const FAN_OUTS = [1, 10] as const;
const LOADS = [1_000, 10_000, 100_000] as const;

type Round = {
  /** By number of workers. */
  readonly drains: readonly Drained[];
  /** In batches, by fan-out. */
  readonly accepts: readonly Accepted[];
  readonly unawaited: ReplicatedAccept;
  readonly awaited: ReplicatedAccept;
};

/** The capacity of one worker, one API and one Redis, and the processes that a load needs. */
export const scale: Scenario = async ({ options: { count, repeats }, say }) => {
  const plan = planDrain(count);
  const rounds: Round[] = [];
  for (let round = 1; round <= repeats; round++) {
    say(`scale, round ${round} of ${repeats}: drain with one worker and with two`);
    const drains: Drained[] = [];
    for (const workers of WORKERS) drains.push(await measureDrain({ ...plan, workers }));
    say(`scale, round ${round} of ${repeats}: accept`);
    const accepts: Accepted[] = [];
    for (const fanOut of FAN_OUTS) accepts.push(await withApi({ fanOut }, measureBatches));
    say(`scale, round ${round} of ${repeats}: accept with a replica, without and with waiting for it`);
    const unawaited = await measureReplicated(0, 10);
    rounds.push({ drains, accepts, unawaited, awaited: await measureReplicated(1, 10) });
  }
  const tables = [carriesTable(rounds, plan.count), replicasTable(rounds), loadsTable(rounds)];
  return { tables, raw: { rounds }, targets: [] };
};

function carriesTable(rounds: readonly Round[], count: number): Table {
  const drainRow = (workers: number, index: number): Cell[] => {
    const of = (read: (drained: Drained) => number) => medianOf(rounds, ({ drains }) => drains[index], read);
    const redisUs = of(({ cpuUs }) => cpuUs.redis ?? NaN);
    return [
      ...[`deliveries sent by ${workers === 1 ? 'one worker' : `${workers} workers`}`, of((each) => each.perSecond)],
      ...[NaN, of(({ cpuUs }) => cpuUs.worker), redisUs, 1_000_000 / redisUs],
    ];
  };
  const acceptRow = (fanOut: number, index: number): Cell[] => {
    const of = (read: (accepted: Accepted) => number) => medianOf(rounds, ({ accepts }) => accepts[index], read);
    const redisUs = of(({ cpuUs }) => cpuUs.redis);
    return [
      ...[`transitions accepted, fan-out ${fanOut}`, of(({ perSecond }) => perSecond)],
      ...[of(({ cpuUs }) => cpuUs.api), NaN, redisUs, 1_000_000 / redisUs],
    ];
  };
  return {
    title: `What one of each carries, median of ${rounds.length}`,
    columns: ['each by itself', 'per s here', 'µs CPU: API', 'worker', 'Redis', 'one core of Redis, per s'],
    rows: [...WORKERS.map(drainRow), ...FAN_OUTS.map(acceptRow)],
    notes: [
      `${count} deliveries for 50 receivers are drained; transitions come in batches of ${BATCH}. All of it, receivers and load included, shares this machine's cores.`,
      'Rates here are therefore lower bounds. The last column is 1 s / CPU of Redis; its threads that write files are counted in.',
    ],
  };
}

function replicasTable(rounds: readonly Round[]): Table {
  const toRow = (kind: keyof ReplicatedAccept, min: 0 | 1): Cell[] => {
    const read = (round: Round) => (min === 0 ? round.unawaited : round.awaited)[kind];
    return [
      `${kind === 'single' ? `single, ${CONNECTIONS.single} connections` : `batches of ${BATCH}`}, REDIS_MIN_REPLICAS=${min}`,
      median(rounds.map((round) => read(round).perSecond)),
      min === 0 ? NaN : median(rounds.map((round) => read(round).perSecond / round.unawaited[kind].perSecond)),
      median(rounds.map((round) => read(round).cpuUs.api)),
      median(rounds.map((round) => read(round).cpuUs.redis)),
    ];
  };
  return {
    title: `What REDIS_MIN_REPLICAS=1 costs the acceptance, fan-out 10, median of ${rounds.length}`,
    columns: ['transitions', 'per s', 'of unawaited', 'µs CPU: API', 'Redis master'],
    rows: [toRow('single', 0), toRow('single', 1), toRow('batch', 0), toRow('batch', 1)],
    notes: [
      'A master, a replica and three Sentinels beside API and load on the same cores; a real network adds its round trip.',
    ],
  };
}

function loadsTable(rounds: readonly Round[]): Table {
  const costs: DeliveryCosts[] = FAN_OUTS.map((fanOut, index) => {
    const accept = (read: (accepted: Accepted) => number) => medianOf(rounds, ({ accepts }) => accepts[index], read);
    const send = (read: (drained: Drained) => number) => medianOf(rounds, ({ drains }) => drains[0], read);
    return {
      apiUs: accept(({ cpuUs }) => cpuUs.api) / fanOut,
      workerUs: send(({ cpuUs }) => cpuUs.worker),
      redisUs: send(({ cpuUs }) => cpuUs.redis ?? NaN) + accept(({ cpuUs }) => cpuUs.redis) / fanOut,
    };
  });
  const rows = FAN_OUTS.flatMap((fanOut, index) =>
    LOADS.map((load): Cell[] => {
      const { apis, workers, masters } = sizeFor(load, costs[index] ?? { apiUs: NaN, workerUs: NaN, redisUs: NaN });
      return [`${load.toLocaleString('en')} deliveries/s, fan-out ${fanOut}`, apis, workers, masters].map(toCount);
    }),
  );
  return {
    title: 'What a load needs',
    columns: ['load', 'APIs', 'workers', 'Redis masters'],
    rows,
    notes: [
      ...costs.map(({ apiUs, workerUs, redisUs }, index) => {
        const [api, worker, redis] = [apiUs, workerUs, redisUs].map((us) => us.toFixed(0));
        return `Fan-out ${FAN_OUTS[index] ?? 0}, each delivery: API ${api} µs, worker ${worker} µs, Redis ${redis} µs for accepting and sending.`;
      }),
      `Deliveries/s × µs / 1 s / ${BUSY}, rounded up: each process has a core and is ${BUSY * 100} % busy. Transitions come in batches.`,
    ],
  };
}

/** Numbers of processes are printed without decimals. */
function toCount(cell: Cell): Cell {
  return typeof cell === 'number' ? cell.toLocaleString('en') : cell;
}

function medianOf<T>(
  rounds: readonly Round[],
  choose: (round: Round) => T | undefined,
  read: (chosen: T) => number,
): number {
  return median(rounds.map(choose).flatMap((chosen) => (chosen === undefined ? [] : [read(chosen)])));
}

type ReplicatedAccept = Readonly<Record<'single' | 'batch', Accepted>>;

/** Accepting on a master with a replica and three Sentinels. The CPU of Redis is the master's. */
async function measureReplicated(minReplicas: 0 | 1, fanOut: number): Promise<ReplicatedAccept> {
  await using redis = await startRedisSentinels({ appendonly: true });
  const [master] = redis.servers;
  if (!master) throw new Error('the Sentinels watch no server');
  await using env = await createHeraldEnv(master.url, await createCertificateAuthority());
  const variables = { ...withoutUrl(env.variables), ...watchedBy(redis), REDIS_MIN_REPLICAS: String(minReplicas) };
  return await withApiOn(master, { ...env, variables }, { fanOut }, async (api) => ({
    single: await measureSingles(api),
    batch: await measureBatches(api),
  }));
}

/** A url beside Sentinels is refused. */
function withoutUrl(variables: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => name !== 'REDIS_URL'));
}

function watchedBy({ ports, masterName }: RunningRedisSentinels): Record<string, string> {
  const addresses = ports.map((port) => `127.0.0.1:${port}`);
  return { REDIS_SENTINELS: addresses.join(','), REDIS_SENTINEL_MASTER: masterName };
}

/** CPU of one delivery, its part of the transition included, in µs. */
type DeliveryCosts = {
  readonly apiUs: number;
  readonly workerUs: number;
  /** Accepting and sending. */
  readonly redisUs: number;
};

/** Numbers of processes: one of Node or of Redis uses one core. */
type Size = Readonly<Record<'apis' | 'workers' | 'masters', number>>;

/** Mean share of a core that a process may use, which leaves room for peaks. */
const BUSY = 0.7;

/** The processes of each kind that a rate of deliveries keeps busy. */
export function sizeFor(perSecond: number, { apiUs, workerUs, redisUs }: DeliveryCosts): Size {
  const processes = (us: number) => Math.ceil((perSecond * us) / 1_000_000 / BUSY);
  return { apis: processes(apiUs), workers: processes(workerUs), masters: processes(redisUs) };
}
