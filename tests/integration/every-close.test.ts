import { AsyncLocalStorage } from 'node:async_hooks';
import { globSync, readFileSync } from 'node:fs';
import { createLogger } from '@herald/runtime/log';
import { startClock } from '@herald/store/redis/clock';
import { openConnections, startHeartbeat } from '@herald/store/redis/open-connections';
import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import { startMemoryGuard } from '@herald/store/stats/memory-guard';
import { createKeyspace } from '@herald/store/keys/keys';
import { takeUpgradeLease } from '@herald/store/data/take-over-data';
import { createEgressGate, createEgressSender, createRouteFinder } from '@herald/egress/create-egress';
import { EgressFailedError } from '@herald/egress/egress-errors';
import { createProxy } from '@herald/egress/create-proxy';
import { startFloodWatch } from '@herald/egress/guarded-agent';
import { readProxyUrl } from '@herald/egress/egress-env';
import {
  createCertificateAuthority,
  freePort,
  startHttps,
  startPlain,
  startProxy,
  startRedis,
  waitFor,
  type RunningRedis,
} from '@herald/test-kit';
import { startRefresher } from '../../apps/api/src/idempotency.ts';
import { startHealthServer } from '../../apps/worker/src/health.ts';
import { startMaintenance } from '../../apps/worker/src/maintenance.ts';
import { startDeliveryQueue } from '../../apps/worker/src/queue.ts';
import { shardKeys } from '../support/delivery-state.ts';
import { RIGHT_CLOCK } from '../support/right-clock.ts';
import { trackHandles } from '../support/track-handles.ts';

type End = () => unknown;

const cleanUp = new AsyncDisposableStack();
let server: RunningRedis;
/** What the parts send to: a receiver, a machine that never says anything, one that is not there, and a proxy that makes no tunnel. */
let peers: Readonly<Record<'receiver' | 'silent' | 'none' | 'busy', number>> & { readonly caPem: string };
beforeAll(async () => {
  server = cleanUp.adopt(await startRedis(), (each) => each.close());
  const authority = await createCertificateAuthority();
  const { certPem, keyPem } = await authority.issueCertificate({ hosts: ['127.0.0.1'] });
  const receiver = cleanUp.use(await startHttps({ cert: certPem, key: keyPem }, (_, response) => response.end()));
  const silent = cleanUp.use(await startPlain(() => undefined));
  const { port: busy } = cleanUp.use(await startProxy({ answer: () => ignore }));
  const ports = { receiver: receiver.port, silent: silent.port, none: await freePort(), busy };
  peers = { caPem: authority.certPem, ...ports };
});
afterAll(() => cleanUp.disposeAsync());

const logger = createLogger({ level: 'error', process: 'test', readable: false });
const ignore = () => undefined;
const connect = (use: 'request' | 'background' | 'subscriptions' = 'background') =>
  connectRedis({ target: { kind: 'single', url: server.url }, use, name: 'test', onError: ignore });

/** How each part of a process is started, so that it has begun what it does again and again; returns how it ends. */
const PARTS: Readonly<Record<string, () => Promise<End>>> = {
  async connectRedis() {
    const clients = await Promise.all((['request', 'background', 'subscriptions'] as const).map(connect));
    await Promise.all(clients.map((client) => client.ping()));
    return () => Promise.all(clients.map((client) => closeRedis(client)));
  },
  async startHeartbeat() {
    const redis = await connect();
    const heartbeat = startHeartbeat(redis, 'commands');
    const startedAt = heartbeat.lastAnswerAt();
    await waitFor('a beat to be answered', () => heartbeat.lastAnswerAt() > startedAt);
    return async () => {
      heartbeat.stop();
      await closeRedis(redis);
    };
  },
  startFloodWatch: () => Promise.resolve(startFloodWatch(new Map(), ignore)),
  async startMemoryGuard() {
    const redis = await connect();
    const largest = (): Promise<never[]> => Promise.resolve([]);
    const guard = startMemoryGuard({ redis, keyspace: createKeyspace(1), accounts: { largest } });
    return async () => {
      guard.stop();
      await closeRedis(redis);
    };
  },
  async openConnections() {
    const connections = openConnections({
      target: { kind: 'single', url: server.url },
      use: 'background',
      metrics: { failed: ignore, reconnected: ignore },
      logger,
      giveUp: ignore,
    });
    await connections.open('test');
    await connections.open('test', 'subscriptions');
    return () => connections.close();
  },
  async startClock() {
    const redis = await connect();
    const clock = await startClock(redis);
    await clock.refresh();
    return async () => {
      clock.stop();
      await closeRedis(redis);
    };
  },
  async takeUpgradeLease() {
    const redis = await connect();
    const lease = await takeUpgradeLease(redis);
    return async () => {
      await lease?.release();
      await closeRedis(redis);
    };
  },
  async startDeliveryQueue() {
    const [redis, waitRedis] = [await connect(), await connect()];
    const queue = startDeliveryQueue({
      redis,
      waitRedis,
      keys: shardKeys(),
      groupLimit: 1,
      process: () => Promise.resolve({ kind: 'finished' }),
      concurrency: 1,
      clock: RIGHT_CLOCK,
      random: () => 0,
      metrics: { internalError: ignore, queueFailed: ignore, jobStalled: ignore },
      logger,
    });
    // It has asked for a job, and waits for one.
    await waitFor('it to wait', async () => String(await redis.client('LIST')).includes('cmd=bzpopmin'));
    return async () => {
      await queue.stop();
      await Promise.all([redis, waitRedis].map((client) => closeRedis(client)));
    };
  },
  async startMaintenance() {
    let rounds = 0;
    const last = Promise.withResolvers<undefined>();
    const routine = () => (rounds++ < 2 ? Promise.resolve() : last.promise);
    const maintenance = startMaintenance({ routine, everyMs: 1, onFailed: ignore, random: () => 0 });
    await waitFor('a few rounds', () => rounds > 2);
    return () => {
      setImmediate(() => {
        last.resolve(undefined);
      });
      return maintenance.stop();
    };
  },
  async startRefresher() {
    let renewals = 0;
    const renew = () => Promise.resolve(renewals++ < 0 ? ('lost' as const) : ('renewed' as const));
    const record = { seed: { at: 0, random: Buffer.alloc(1) }, renew, keepAnswer: ignore, giveBack: ignore };
    const stop = startRefresher(record as never, 3, logger, 'req_1');
    await waitFor('a renewal', () => renewals > 1);
    return stop;
  },
  async startHealthServer() {
    const exposition = { contentType: 'text/plain', render: () => Promise.resolve('') };
    const readReadiness = () => Promise.resolve({ status: 'ok' } as never);
    const health = await startHealthServer({ host: '127.0.0.1', port: 0 }, { readReadiness, exposition });
    expect((await fetch(`http://127.0.0.1:${health.port}/healthz`, { headers: { connection: 'close' } })).ok).toBe(
      true,
    );
    return () => health.close();
  },
};

/** Sends to a receiver and to one that is not there, with a way out through a proxy or without. */
async function sendAll(proxyUrl?: string): Promise<End> {
  const report = { failed: ignore, recovered: ignore };
  const { caPem } = peers;
  const proxy = proxyUrl === undefined ? undefined : createProxy({ address: readProxyUrl(proxyUrl), caPem, report });
  const allowCidrs = ['127.0.0.0/8'];
  const sender = createEgressSender({ allowCidrs, caPem, names: { bySystem: true }, deadlineMs: 60_000, proxy });
  for (const port of [peers.receiver, peers.silent, peers.none]) {
    const request = { url: `https://127.0.0.1:${port}/`, headers: {}, body: Buffer.from('{}') };
    await sender.send(request, AbortSignal.timeout(700)).catch(ignore);
  }
  return sender.close;
}

/** The same of what is made, and not started. */
const MADE: Readonly<Record<string, () => Promise<End>>> = {
  createEgressSender: () => sendAll(),
  'createProxy, one that is away': () => sendAll(`http://127.0.0.1:${peers.none}`),
  'createProxy, one that says nothing': () => sendAll(`http://127.0.0.1:${peers.silent}`),
  'createProxy, one that says nothing over TLS': () => sendAll(`https://127.0.0.1:${peers.silent}`),
  'createProxy, one that makes no tunnel': () => sendAll(`http://127.0.0.1:${peers.busy}`),
  async createEgressGate() {
    const lookup = { look: () => Promise.resolve('serves' as const) };
    const gate = createEgressGate({ lookup, findRoute: () => Promise.resolve(true) });
    gate.failed(new EgressFailedError('no_descriptors'));
    await waitFor('a look', () => gate.isOpen());
    return gate.close;
  },
  async createRouteFinder() {
    await createRouteFinder(['127.0.0.0/8'])();
    return ignore;
  },
};

/** What starts something and ends with a whole process: tests/e2e/every-stop.test.ts stops those. */
const OF_PROCESSES = [
  ...['startApi', 'startWorker', 'openContext', 'openBase', 'openHistory', 'openClock', 'openEgress', 'openWhenUsable'],
  ...[
    'startShards',
    'startShard',
    'startMoving',
    'startTendingDays',
    'startShortening',
    'startPresence',
    'startExchange',
    'openEventStream',
  ],
  ...['openShards', 'watchSentinels'],
];
/** Steps of another part, which ends what they open. */
const STEPS = ['connectAll', 'connectDirectly', 'openPool', 'openSocket', 'openBoard'];
/** They decrypt, and change a schema. */
const STARTS_NOTHING = ['openHeaders', 'openAnswer'];

test('every part that starts something is stopped by a test', () => {
  const files = globSync('{packages/{store,egress,history,runtime,queue},apps/{api,worker}}/src/**/*.ts');
  const found = files
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(
        /^(?:export )?(?:async )?function ((?:start|open|connect|watch)[A-Z]\w+|take\w+Lease)[<(]/gm,
      ),
    ])
    .map(([, name = '']) => name);
  const known = [...Object.keys(PARTS), ...OF_PROCESSES, ...STEPS, ...STARTS_NOTHING];
  expect([...new Set(found)].sort()).toEqual(known.sort());
});

/** Promises for which a statement says that nobody waits, and why. The linter refuses any other. */
const NOT_AWAITED: readonly (readonly [where: string, why: string])[] = [
  ['apps/api/src/auth/judge-access.ts: writeLastUse', 'a request is answered meanwhile'],
  ['apps/api/src/http/request-state.ts: mark.set', 'a request is answered meanwhile'],
  ['apps/api/src/idempotency.ts: settleAnswer', 'it sends the answer'],
  ['apps/worker/src/queue.ts: worker.pause', 'the backend is what holds'],
  ['apps/worker/src/queue.ts: worker.resume', 'the backend is what resumes'],
  ['packages/egress/src/create-lookup.ts: look', 'a timer has no caller, and a name that is found needs no look'],
  ['packages/egress/src/create-lookup.ts: Promise.allSettled', 'each part has its own caller'],
  ['packages/egress/src/dial.ts: attempt', 'it settles what the caller waits for'],
  ['packages/egress/src/guarded-agent.ts: dialling.opened', 'Node takes a callback'],
  ['packages/history/src/partitions/partitions.ts: pool.query', 'a timer has no caller'],
  ['packages/queue/src/worker/reservations.ts: giveBack', 'another takes the job when its lease ends'],
  ['packages/runtime/src/lifecycle.ts: started.then', 'a signal has no caller'],
  ['packages/store/src/redis/batch-calls.ts: run', 'each call in it has its own caller'],
  ['packages/store/src/redis/clock.ts: refresh', 'a timer has no caller'],
  ['packages/store/src/redis/connect-redis.ts: ask', 'a timer asks again'],
  ['packages/store/src/redis/open-connections.ts: closeRedis', 'Redis owes its answers for too long'],
  ['packages/store/src/redis/open-connections.ts: ask', 'a timer judges what it finds'],
];

test('what nobody waits for is on a list, with its reason', () => {
  const files = globSync('{packages/{core,store,egress,history,runtime,queue},apps/{api,worker,cli}}/src/**/*.ts');
  const found = files.sort().flatMap((file) => {
    if (file.endsWith('.test.ts')) return [];
    // `splice` gives no promise.
    const voids = readFileSync(file, 'utf8').matchAll(/(?<!(?:=>|:)\s*)\bvoid (?!line\.splice)([^(<;\n]+)/gm);
    return [...voids].map(([, what = '']) => `${file}: ${what}`);
  });
  expect(found).toEqual(NOT_AWAITED.map(([where]) => where));
});

test.each(Object.entries({ ...PARTS, ...MADE }))(
  '%s: once it has ended, nothing of it goes on, and no timer and no connection is left',
  async (name, start) => {
    const ours = new AsyncLocalStorage<true>();
    const tracker = trackHandles(() => ours.getStore() === true);
    const findLeft = () => tracker.find().filter(({ what }) => !what.includes('wait-for.ts'));
    try {
      await ours.run(true, async () => {
        const end = await start();
        await end();
      });
      // Whatever goes on should have been waited for; what is only made ends a moment later.
      expect(name in PARTS ? tracker.findUnderWay() : []).toEqual([]);
      // What was closed is gone a moment later.
      await waitFor('nothing to be left', () => findLeft().length === 0, { deadlineMs: 3_000 }).catch(ignore);
      expect(findLeft()).toEqual([]);
    } finally {
      tracker.stop();
    }
  },
);
