import { freePort, waitFor } from '@herald/test-kit';
import { scrape } from '../../support/metrics.ts';
import { basic, OPERATOR_ENV } from '../../support/operator-client.ts';
import { shardKeys } from '../../support/delivery-state.ts';
import { runCli } from '../../support/run-cli.ts';
import type { Env } from '../../support/start-herald-process.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';

jest.setTimeout(90_000);

const CREDENTIALS = basic(OPERATOR_ENV.OPERATOR_USER, OPERATOR_ENV.OPERATOR_PASSWORD);
const GOOD: Env = {
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  ACTION_URL_TEMPLATE: 'https://app.example.com/tasks/{taskId}',
  EGRESS_DNS_SERVERS: '127.0.0.1',
  RETRY_SCHEDULE: '',
};

interface Scene {
  readonly finding: string;
  /** What is never without it. */
  readonly also?: string;
  readonly make: (herald: Herald) => Promise<unknown>;
  /** Absent: it stays for those that follow. */
  readonly undo?: (herald: Herald) => Promise<unknown>;
  /** Judged by the work that waits, which no readiness looks at. Alerts see it in metrics of its own. */
  readonly isOfWork?: true;
}

const set = (name: string, value: string) => async (herald: Herald) => herald.redis.config('SET', name, value);

const SCENES: readonly Scene[] = [
  { finding: 'warning history_away', make: () => Promise.resolve() },
  { finding: 'warning snapshots_on', make: set('save', '3600 1'), undo: set('save', '') },
  { finding: 'warning persistence_off', make: set('appendonly', 'no'), undo: set('appendonly', 'yes') },
  { finding: 'warning maxmemory_unset', make: set('maxmemory', '0'), undo: set('maxmemory', '256mb') },
  {
    finding: 'error eviction_policy',
    make: set('maxmemory-policy', 'allkeys-lru'),
    undo: set('maxmemory-policy', 'noeviction'),
  },
  {
    finding: 'warning redis_nearly_full',
    // Made by Redis itself: what a client sends is counted for a moment, too.
    async make({ redis }) {
      await redis.setrange('filler', 40_000_000, 'x');
      const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
      await redis.config('SET', 'maxmemory', Math.round(used * 1.08));
    },
    undo: set('maxmemory', '256mb'),
  },
  {
    finding: 'error redis_refuses_writes',
    also: 'warning redis_nearly_full',
    make: set('maxmemory', '1'),
    undo: set('maxmemory', '256mb'),
  },
  // Not one of memory, which scripts that free something pass.
  {
    finding: 'error redis_refuses_writes',
    make: set('min-replicas-to-write', '1'),
    undo: set('min-replicas-to-write', '0'),
  },
  {
    finding: 'warning proxy_not_trusted',
    make: (herald) => herald.request('GET', '/healthz', { headers: { 'x-forwarded-for': '192.0.2.1' } }),
  },
  {
    finding: 'warning deliveries_failed',
    async make(herald) {
      const workspace = await herald.createWorkspace();
      const { url } = await herald.startReceiver([500]);
      await workspace.registerReceiver({ url });
      await workspace.closeTask((await workspace.createTask()).id);
      await herald.settled();
    },
    isOfWork: true,
  },
  {
    finding: 'warning queue_paused',
    make: ({ redis }) => redis.hset(shardKeys().queue.settings, 'paused', '1'),
    undo: ({ redis }) => redis.hdel(shardKeys().queue.settings, 'paused'),
    isOfWork: true,
  },
  { finding: 'warning no_worker', make: async (herald) => herald.workers[0]?.stop() },
];

interface Told {
  readonly level: string;
  readonly code?: string;
}
const namesOf = (found: readonly Told[]) =>
  found.flatMap(({ level, code }) => (code === undefined ? [] : [`${level} ${code}`])).sort();

describe('what is wrong', () => {
  let herald: Herald;
  let env: Env;
  /** What every surface is to say now. */
  const present = new Map<string, Scene>();

  beforeAll(async () => {
    env = { ...GOOD, HISTORY_URL: `postgres://herald@127.0.0.1:${await freePort()}/herald` };
    herald = await startHerald({
      topology: 'single',
      env: { ...env, ...OPERATOR_ENV },
      redis: { appendonly: true, args: ['--maxmemory', '256mb'] },
    });
    env = { ...env, REDIS_URL: herald.server.url };
  });
  afterAll(() => herald[Symbol.asyncDispose]());

  const readSurfaces = async () => {
    const overview = await herald.request('GET', '/api/operator/overview', { headers: CREDENTIALS });
    const ready = (await herald.request('GET', '/readyz')).body as { problems: Told[]; warnings: Told[] };
    const metrics = await scrape(herald.apis[0]?.origin ?? '', CREDENTIALS);
    const command = async (name: string) =>
      namesOf((JSON.parse((await runCli([name, '--json'], env)).stdout) as { findings: Told[] }).findings);
    return {
      doctor: await command('doctor'),
      queues: await command('queues'),
      admin: namesOf((overview.body as { findings: Told[] }).findings),
      readyz: namesOf([...ready.problems, ...ready.warnings]),
      // By these the alerts tell it, unless one looks at the number itself.
      metrics: [...present.keys()].filter((finding) => {
        const [level = '', code = ''] = finding.split(' ');
        return metrics.sum('herald_finding', { level, code }) === 1;
      }),
    };
  };

  test.each(SCENES)('$finding is told by that name everywhere', async (scene) => {
    await scene.make(herald);
    const made = [scene.finding, ...(scene.also === undefined ? [] : [scene.also])];
    for (const finding of made) present.set(finding, scene);
    const all = [...present.keys()].sort();
    const ofReadiness = all.filter((finding) => !present.get(finding)?.isOfWork);
    const expected = { doctor: all, queues: all, admin: all, readyz: ofReadiness, metrics: ofReadiness };
    let said: unknown;
    // Each surface remembers for a second what it has seen.
    await waitFor(`all to say ${all.join(', ')}`, async () => {
      const { metrics, ...others } = await readSurfaces();
      said = { ...others, metrics: metrics.sort() };
      return JSON.stringify(said) === JSON.stringify(expected);
    }).catch(() => undefined);
    expect(said).toEqual(expected);
    if (!scene.undo) return;
    await scene.undo(herald);
    for (const finding of made) present.delete(finding);
  });
});
