import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import { createCertificateAuthority } from '@herald/test-kit';
import { Queue } from 'bullmq';
import { createHeraldEnv, startBenchRedis } from './start-herald.ts';
import { runProgram, startReceivers } from './start-receivers.ts';
import { type Cell, median, spread } from './table.ts';

// The cost of BullMQ and of an HTTPS client alone: a service made of both can't be faster than their composition.

export type NoopWorkerInput = {
  readonly redisUrl: string;
  readonly queue: string;
  readonly prefix: string;
  readonly count: number;
  readonly concurrency: number;
  readonly pids: { readonly redis: number };
};

export type SendInput = {
  readonly client: 'got' | 'https';
  readonly urls: readonly string[];
  readonly caFile: string;
  readonly count: number;
  readonly concurrency: number;
  readonly pids: { readonly receiver: number };
};

/** CPU per item, in µs. */
export type Pace = {
  readonly perSecond: number;
  readonly cpuUs: { readonly worker: number; readonly redis?: number; readonly receiver?: number };
};

export type FloorRound = {
  readonly bullmq: Pace;
  readonly got: Pace;
  readonly https: Pace;
  /** A delivery needs a turn of BullMQ and then a send: 1/(1/a + 1/b). */
  readonly composed: Pace;
  readonly composedWithHttps: Pace;
};

export const FAST_RECEIVERS = 50;
const CONCURRENCY = 100;

/** Measures each part once, in a new process without warm-up, like a drain. */
export async function measureFloor(count: number): Promise<FloorRound> {
  const bullmq = await measureBullmq(count);
  const got = await measureSends('got', count);
  const https = await measureSends('https', count);
  return {
    bullmq,
    got,
    https,
    composed: compose(bullmq, got),
    composedWithHttps: compose(bullmq, https),
  };
}

function compose(a: Pace, b: Pace): Pace {
  return {
    perSecond: 1 / (1 / a.perSecond + 1 / b.perSecond),
    cpuUs: { ...a.cpuUs, ...b.cpuUs, worker: a.cpuUs.worker + b.cpuUs.worker },
  };
}

async function measureBullmq(count: number): Promise<Pace> {
  await using redis = await startBenchRedis();
  await addBareJobs(redis.url, count);
  const input: NoopWorkerInput = {
    redisUrl: redis.url,
    queue: BARE_QUEUE.name,
    prefix: BARE_QUEUE.prefix,
    count,
    concurrency: CONCURRENCY,
    pids: { redis: redis.pid },
  };
  return (await runProgram('noop-worker', input)) as Pace;
}

async function measureSends(client: SendInput['client'], count: number): Promise<Pace> {
  const ca = await createCertificateAuthority();
  await using env = await createHeraldEnv('redis://unused', ca);
  await using receivers = await startReceivers({ ca, behaviours: new Array(FAST_RECEIVERS).fill('ok') as 'ok'[] });
  const input: SendInput = {
    client,
    caFile: env.caFile,
    count,
    concurrency: CONCURRENCY,
    urls: receivers.origins.map((origin) => `${origin}/hook`),
    pids: { receiver: receivers.pid },
  };
  return (await runProgram('send', input)) as Pace;
}

export const PACE_COLUMNS = [
  'deliveries',
  'per s',
  'spread',
  'of the floor',
  'µs CPU: worker',
  'Redis',
  'receivers',
] as const;

/** A row of medians. `ratios` refer to the floor of the same round. */
export function paceRow(name: string, paces: readonly Pace[], ratios: readonly number[] = []): Cell[] {
  const rates = paces.map(({ perSecond }) => perSecond);
  return [
    name,
    median(rates),
    `${Math.round(spread(rates) * 100)} %`,
    median(ratios),
    median(paces.map(({ cpuUs }) => cpuUs.worker)),
    median(paces.map(({ cpuUs }) => cpuUs.redis ?? NaN)),
    median(paces.map(({ cpuUs }) => cpuUs.receiver ?? NaN)),
  ];
}

export function floorRows(rounds: readonly FloorRound[]): Cell[][] {
  const paces = (read: (round: FloorRound) => Pace) => rounds.map(read);
  const ratios = rounds.map(({ composed, composedWithHttps }) => composedWithHttps.perSecond / composed.perSecond);
  return [
    paceRow(
      'BullMQ alone',
      paces(({ bullmq }) => bullmq),
    ),
    paceRow(
      'the sender (got) alone',
      paces(({ got }) => got),
    ),
    paceRow(
      'node:https alone',
      paces(({ https }) => https),
    ),
    paceRow(
      'floor: BullMQ + got, composed',
      paces(({ composed }) => composed),
      [1],
    ),
    paceRow(
      'BullMQ + node:https, composed',
      paces(({ composedWithHttps }) => composedWithHttps),
      ratios,
    ),
  ];
}

/** The queue of BullMQ's own jobs. */
const BARE_QUEUE = { name: 'deliveries', prefix: '{bare}' } as const;

const AT_A_TIME = 1_000;
const EVENT_STREAM_LENGTH = 1_000;

/** Adds jobs with the ids of deliveries to a queue of stock BullMQ: the floor of a queue's memory. */
export async function addBareJobs(url: string, count: number): Promise<void> {
  const redis = await connectRedis({
    target: { kind: 'single', url },
    use: 'background',
    name: 'bench',
    onError: () => undefined,
  });
  const queue = new Queue(BARE_QUEUE.name, {
    connection: redis,
    prefix: BARE_QUEUE.prefix,
    skipWaitingForReady: true,
    streams: { events: { maxLen: EVENT_STREAM_LENGTH } },
  });
  for (let start = 0; start < count; start += AT_A_TIME) {
    const some = Array.from({ length: Math.min(AT_A_TIME, count - start) }, (_, index) => start + index);
    await queue.addBulk(some.map((index) => ({ name: 'task.check_in', data: {}, opts: { jobId: idOf(index) } })));
  }
  await queue.close();
  await closeRedis(redis);
}

function idOf(index: number): string {
  return `dlv_2z5gq3xk7m4wq6y2bnd5vh${String(index).padStart(8, '0')}`;
}
