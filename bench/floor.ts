import { createCertificateAuthority } from '@herald/test-kit';
import { addBareJobs, BARE_QUEUE } from './add-bare-jobs.ts';
import { createHeraldEnv } from './start-herald.ts';
import { runProgram } from './run-program.ts';
import { startBenchRedis } from './start-bench-redis.ts';
import { startReceivers } from './start-receivers.ts';

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
