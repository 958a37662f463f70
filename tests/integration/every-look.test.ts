import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAddressPolicy } from '@herald/egress/address-policy';
import { createLookup } from '@herald/egress/create-lookup';
import { createSender } from '@herald/egress/create-sender';
import { ProxyFailedError } from '@herald/egress/egress-errors';
import { GuardedAgent } from '@herald/egress/guarded-agent';
import { createGate } from '@herald/egress/gate';
import { proxyGateRules } from '@herald/egress/create-proxy';
import { createHistoryAccess } from '@herald/history/access/create-history-access';
import { createHistoryPool } from '@herald/history/pool/create-history-pool';
import { prepareHistory } from '@herald/history/requirements/prepare-history';
import { createApiKeyStore } from '@herald/store/access/api-key-store';
import { createKeyspace, GLOBAL_KEYS } from '@herald/store/keys/keys';
import { createReadiness } from '@herald/store/operators/create-readiness';
import { createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { closeRedis, connectRedis, type ConnectionUse, type RedisClient } from '@herald/store/redis/connect-redis';
import { defineScript } from '@herald/store/redis/script';
import { createLookUpRefresher } from '@herald/store/tasks/task-record';
import { createCertificateAuthority, findPostgres, startPostgres, startRedis, waitFor } from '@herald/test-kit';
import { createDecryptedCache } from '../../apps/worker/src/deliver.ts';

/** Something that is asked for when it is needed, and can fail. */
type Look = AsyncDisposable & {
  /** Whether it brings what is right. What it throws counts as a failure. */
  readonly ask: () => boolean | Promise<unknown>;
  readonly fail: () => unknown;
  readonly mend: () => unknown;
};

/** The next time that it is asked for, however busy the machine is. */
const AT_ONCE_MS = 2_000;
const ignore = () => undefined;
const nothing = { [Symbol.asyncDispose]: () => Promise.resolve() };

/** A Redis of its own, and a client of it. Its commands can be made to fail. */
async function startFailing(use: ConnectionUse = 'request') {
  const cleanUp = new AsyncDisposableStack();
  const server = cleanUp.use(await startRedis());
  const connect = async (as = use) => {
    const target = { kind: 'single', url: server.url } as const;
    const client = await connectRedis({ target, use: as, name: 'test', onError: ignore });
    cleanUp.defer(() => closeRedis(client));
    return client;
  };
  const redis = await connect();
  let isAway = false;
  const failing: RedisClient = new Proxy(redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]): unknown =>
        isAway ? Promise.reject(new Error('away')) : Reflect.apply(value, target, args);
    },
  });
  return {
    server,
    redis,
    failing,
    connect,
    fail: () => {
      isAway = true;
    },
    mend: () => {
      isAway = false;
    },
    [Symbol.asyncDispose]: () => cleanUp.disposeAsync(),
  };
}

/** On a Redis that is killed, and started again. */
async function onRedis(ask: (redis: RedisClient) => Promise<unknown>): Promise<Look> {
  const { server, redis, [Symbol.asyncDispose]: dispose } = await startFailing();
  const [fail, mend] = [() => server.kill(), () => server.restart()];
  return { ask: () => ask(redis), fail, mend, [Symbol.asyncDispose]: dispose };
}

/** Each look that a process makes again and again or whenever it needs something, and within what time it is right again. */
const LOOKS: readonly { readonly what: string; readonly withinMs: number; readonly start: () => Promise<Look> }[] = [
  {
    what: 'the address of a host',
    withinMs: AT_ONCE_MS,
    start: () => {
      let isAway = false;
      const system = () => (isAway ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve(['1.1.1.1']));
      const lookup = createLookup({ bySystem: true }, system);
      const ask = async () => {
        const [found] = await Promise.allSettled(lookup('receiver.test'));
        return found?.status === 'fulfilled';
      };
      return Promise.resolve({ ask, fail: () => (isAway = true), mend: () => (isAway = false), ...nothing });
    },
  },
  { what: 'a command of Redis', withinMs: 5_000, start: () => onRedis((redis) => redis.ping()) },
  {
    what: 'a script of Redis',
    withinMs: 5_000,
    start: () => onRedis((redis) => defineScript(redis, 'return 1')(['key'], [])),
  },
  {
    what: 'a message of Redis',
    withinMs: 5_000,
    async start() {
      const { server, connect, redis, [Symbol.asyncDispose]: dispose } = await startFailing();
      const subscriber = await connect('subscriptions');
      await subscriber.subscribe('news');
      const ask = async () => {
        const heard = once(subscriber, 'message', { signal: AbortSignal.timeout(500) });
        await Promise.all([heard, redis.publish('news', 'new')]);
        return true;
      };
      return { ask, fail: () => server.kill(), mend: () => server.restart(), [Symbol.asyncDispose]: dispose };
    },
  },
  {
    what: 'whether Redis can be used',
    withinMs: 5_000,
    async start() {
      const { redis, [Symbol.asyncDispose]: dispose } = await startFailing();
      const isReady = createReadiness({
        redis,
        countWorkers: () => Promise.resolve(1),
        isSilent: () => false,
        skewMs: () => 0,
        findProblem: ignore,
      });
      const ask = async () => (await isReady()).status === 'ok';
      const limit = (bytes: number) => redis.config('SET', 'maxmemory', bytes);
      return { ask, fail: () => limit(1), mend: () => limit(0), [Symbol.asyncDispose]: dispose };
    },
  },
  {
    what: 'a key',
    withinMs: AT_ONCE_MS,
    async start() {
      const { failing, fail, mend, [Symbol.asyncDispose]: dispose } = await startFailing();
      const keys = createApiKeyStore({ redis: failing, now: Date.now });
      const { key } = await keys.create({ workspaceId: 'ws_1', scopes: ['tasks'] });
      return { ask: async () => (await keys.find(key)) !== undefined, fail, mend, [Symbol.asyncDispose]: dispose };
    },
  },
  {
    what: 'the subscriptions of a workspace',
    withinMs: AT_ONCE_MS,
    async start() {
      const { failing, fail, mend, [Symbol.asyncDispose]: dispose } = await startFailing();
      const receivers = createReceiverStore({ redis: failing, keyspace: createKeyspace(1) });
      return { ask: () => receivers.findSubscriptions('ws_1'), fail, mend, [Symbol.asyncDispose]: dispose };
    },
  },
  {
    what: 'the life of a look-up of a Task',
    withinMs: AT_ONCE_MS,
    async start() {
      const { redis, failing, fail, mend, [Symbol.asyncDispose]: dispose } = await startFailing();
      const extend = createLookUpRefresher(failing);
      await redis.set(GLOBAL_KEYS.taskWorkspace('task_1'), 'ws_1', 'PX', 60_000);
      const ask = async () => {
        await extend('task_1', 3_600_000);
        return (await redis.pttl(GLOBAL_KEYS.taskWorkspace('task_1'))) > 3_000_000;
      };
      // It is asked for the first time when Redis is away: later it is remembered for an hour.
      return { ask, fail, mend, [Symbol.asyncDispose]: dispose };
    },
  },
  {
    what: 'a secret',
    withinMs: AT_ONCE_MS,
    start: () => {
      let isAway = false;
      const find = createDecryptedCache((encrypted) => {
        if (isAway) throw new Error('the key is missing');
        return encrypted;
      });
      const ask = () => find(isAway ? 'later' : 'now', 'wh_1') !== '' && find('later', 'wh_1') === 'later';
      return Promise.resolve({ ask, fail: () => (isAway = true), mend: () => (isAway = false), ...nothing });
    },
  },
  {
    what: 'the proxy',
    withinMs: 8_000,
    start: () => {
      let isAway = false;
      const look = () => (isAway ? Promise.reject(new ProxyFailedError('connect_failed')) : Promise.resolve(true));
      const gate = createGate<ProxyFailedError>({
        ...proxyGateRules,
        look,
        report: { failed: ignore, recovered: ignore },
      });
      const fail = () => {
        isAway = true;
        gate.failed(new ProxyFailedError('connect_failed'));
      };
      return Promise.resolve({
        ask: () => gate.isOpen(),
        fail,
        mend: () => (isAway = false),
        [Symbol.asyncDispose]: () => {
          gate.close();
          return Promise.resolve();
        },
      });
    },
  },
  {
    what: 'the certificate of a receiver',
    withinMs: 5_000,
    async start() {
      const authority = await createCertificateAuthority();
      const issue = async (isExpired: boolean) => {
        const { certPem, keyPem } = await authority.issueCertificate({ hosts: ['127.0.0.1'], isExpired });
        return { cert: certPem, key: keyPem };
      };
      const [right, wrong] = [await issue(false), await issue(true)];
      // Each delivery has a connection of its own.
      const server = createServer(right, (_, res) => res.writeHead(200, { connection: 'close' }).end());
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const policy = createAddressPolicy({ allowCidrs: ['127.0.0.0/8'] });
      const agent = new GuardedAgent({ policy, lookup: createLookup({}), caPem: authority.certPem });
      const sender = createSender({ agent, deadlineMs: 5_000 });
      const request = { url, headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') };
      return {
        ask: async () => (await sender.send(request)).outcome.kind === 'responded',
        fail: () => {
          server.setSecureContext(wrong);
        },
        mend: () => {
          server.setSecureContext(right);
        },
        async [Symbol.asyncDispose]() {
          sender.close();
          server.closeAllConnections();
          await once(server.close(), 'close');
        },
      };
    },
  },
];

const POSTGRES_LOOKS: typeof LOOKS = [
  {
    what: 'a statement of PostgreSQL',
    withinMs: 5_000,
    async start() {
      const postgres = await startPostgres();
      const limits = { connections: 2, statementLimitMs: 2_000 };
      const pool = createHistoryPool({ url: postgres.url, name: 'test', ...limits, onError: ignore });
      return {
        ask: () => pool.query('SELECT 1'),
        fail: () => postgres.kill(),
        mend: () => postgres.restart(),
        async [Symbol.asyncDispose]() {
          await pool.end();
          await postgres.close();
        },
      };
    },
  },
  {
    what: 'what the history has',
    withinMs: 5_000,
    async start() {
      const postgres = await startPostgres();
      const pool = createHistoryPool({
        url: postgres.url,
        name: 'test',
        connections: 1,
        statementLimitMs: 5_000,
        onError: ignore,
      });
      await prepareHistory(pool, 'write');
      await pool.end();
      const readUser = () => Promise.resolve({ dataId: 'test' });
      const history = createHistoryAccess({
        url: postgres.url,
        name: 'test',
        connections: 2,
        readUser,
        onUnavailable: ignore,
      });
      const ask = async () => (await history.reader.find('ws_1', 'dlv_nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn')) === undefined;
      return {
        ask,
        fail: () => postgres.kill(),
        mend: () => postgres.restart(),
        async [Symbol.asyncDispose]() {
          await history.close();
          await postgres.close();
        },
      };
    },
  },
];

const judge = async (ask: Look['ask']): Promise<boolean> => {
  try {
    return (await ask()) !== false;
  } catch {
    return false;
  }
};

/** It fails, and once what it looks at is right again, it is right within its bound, without anybody's help. */
async function expectMadeAgain({ withinMs, start }: (typeof LOOKS)[number]): Promise<void> {
  await using look = await start();
  await look.fail();
  expect(await judge(look.ask)).toBe(false);
  await look.mend();
  await waitFor('it to be right again', () => judge(look.ask), withinMs);
  // And it stays right.
  expect(await judge(look.ask)).toBe(true);
}

test.each(LOOKS)('$what is looked for again after a failure', async (row) => {
  await expectMadeAgain(row);
  expect.hasAssertions();
});

(findPostgres() ? describe : describe.skip)('with PostgreSQL', () => {
  test.each(POSTGRES_LOOKS)('$what is looked for again after a failure', async (row) => {
    await expectMadeAgain(row);
    expect.hasAssertions();
  });
});
