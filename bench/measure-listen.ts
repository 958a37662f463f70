import { connectRedis, closeRedis } from '@herald/store/redis/connect-redis';
import { waitFor } from '@herald/test-kit';
import { atPace } from './at-pace.ts';
import type { Build } from './builds.ts';
import { checkIn, report } from './executor.ts';
import { measureSingles, withApi, type Accepted, type PreparedApi } from './measure-accept.ts';
import { percentile } from './statistics.ts';

/** Reports a second, and for how long it is too early to count, in ms. */
export const PACE = 500;
const SETTLE_MS = 2_000;

export type ListenFigures = Accepted & {
  /** Commands that Redis ran for each transition, those within scripts included. */
  readonly commands: number;
  /** Of a report at `PACE`, in ms. */
  readonly p50: number;
  readonly p99: number;
  /** Events that came to all listeners together. */
  readonly events: number;
};

/** Accepts transitions, one a report, while so many listen to their workspace. */
export async function measureListen(listeners: number, seconds: number, build?: Build): Promise<ListenFigures> {
  return await withApi({ fanOut: 1, ...(build && { build }) }, async (api) => {
    await using listening = await listenTo(api, listeners);
    const commandsBefore = await countCommands(api.redisUrl);
    const accepted = await measureSingles(api);
    const { reports } = accepted;
    const commands = ((await countCommands(api.redisUrl)) - commandsBefore) / reports;
    const tookMs: number[] = [];
    await atPace(1_000 / PACE, PACE * seconds + (PACE * SETTLE_MS) / 1_000, async (index) => {
      const startedAt = performance.now();
      const taskId = api.taskIds[index % api.taskIds.length] ?? '';
      await report(api.single, { taskId, report: checkIn(`paced${index}`) });
      tookMs.push(performance.now() - startedAt);
    });
    const counted = tookMs.slice((PACE * SETTLE_MS) / 1_000).sort((a, b) => a - b);
    const expected = listeners * (reports + tookMs.length);
    await waitFor('every event', () => listening.count() >= expected);
    return {
      ...accepted,
      commands,
      p50: percentile(counted, 0.5),
      p99: percentile(counted, 0.99),
      events: listening.count(),
    };
  });
}

async function listenTo({ port, workspaceKey }: PreparedApi, count: number) {
  const stop = new AbortController();
  let events = 0;
  const read = async (body: AsyncIterable<Uint8Array>) => {
    for await (const chunk of body) events += Buffer.from(chunk).toString('latin1').split('\nevent: task.').length - 1;
  };
  const reads: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    const headers = { authorization: `Bearer ${workspaceKey}` };
    const answer = await fetch(`http://127.0.0.1:${port}/api/public/listen`, { headers, signal: stop.signal });
    if (!answer.ok) throw new Error(`GET /api/public/listen answered ${answer.status}`);
    reads.push(read(answer.body as unknown as AsyncIterable<Uint8Array>));
  }
  return {
    count: () => events,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.allSettled(reads);
    },
  };
}

/** All that Redis has run, but for what only asks how it is. */
async function countCommands(url: string): Promise<number> {
  const redis = await connectRedis({
    target: { kind: 'single', url },
    use: 'background',
    name: 'herald-bench',
    onError: () => undefined,
  });
  try {
    const text = await redis.info('commandstats');
    return [...text.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)]
      .filter(([, name = '']) => !/^(info|ping|hello|client|config|time|select|auth)/.test(name))
      .reduce((sum, [, , calls]) => sum + Number(calls), 0);
  } finally {
    await closeRedis(redis);
  }
}
