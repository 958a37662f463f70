import {
  askRedis,
  createRedisSecurity,
  findRedisServer,
  freePort,
  launchProcess,
  startRedis,
  waitFor,
  type RunningRedis,
} from '@herald/test-kit';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { speakRedis, startFakeServer } from './start-fake-server.ts';

/** What a person sets, and what must not be shown of it. */
export const PASSWORD = 'hunter2';

type Cleanup = AsyncDisposableStack;
type Starter = (cleanUp: Cleanup) => Promise<number>;

const redis = async (cleanUp: Cleanup, ...args: string[]): Promise<RunningRedis> =>
  cleanUp.use(await startRedis({ args }));
const user = (name: string, ...rules: string[]) => ['--user', name, 'on', `>${PASSWORD}`, ...rules];
const ALL_KEYS = ['~*', '&*', '+@all'];

async function startSentinel(cleanUp: Cleanup, watched: number, ...lines: string[]): Promise<number> {
  const [port, dir] = [await freePort(), await mkdtemp(join(tmpdir(), 'herald-sentinel-'))];
  cleanUp.defer(() => rm(dir, { recursive: true, force: true }));
  const file = join(dir, 'sentinel.conf');
  await writeFile(
    file,
    [`port ${port}`, `dir ${dir}`, ...lines, `sentinel monitor main 127.0.0.1 ${watched} 1`, ''].join('\n'),
  );
  cleanUp.use(
    await launchProcess({
      name: 'sentinel',
      command: findRedisServer() ?? '',
      args: [file, '--sentinel'],
      cwd: dir,
    }),
  );
  await waitFor('the Sentinel', async () => /^(\+PONG|-NOAUTH)/.test(await askRedis(port, 'PING')));
  return port;
}

async function startLoading(cleanUp: Cleanup, ...args: string[]): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'herald-loading-'));
  cleanUp.defer(() => rm(dir, { recursive: true, force: true }));
  const first = await startRedis({ dir, args: ['--enable-debug-command', 'yes', '--rdbcompression', 'no'] });
  await askRedis(first.port, 'DEBUG POPULATE 3000 filler 500');
  await askRedis(first.port, 'SAVE');
  await first.kill();
  // 3,000 keys at 10 ms each; it answers after every few of them.
  const slow = ['--key-load-delay', '10000', '--loading-process-events-interval-bytes', '1024', ...args];
  return cleanUp.use(await startRedis({ dir, mayBeLoading: true, args: slow })).port;
}

/** An answer to every command that a client sends at first, of a server of this version. */
function answerAs(version: string): (words: readonly string[]) => string {
  const info = `redis_version:${version}\r\nrole:master\r\ncluster_enabled:0\r\nloading:0\r\n`;
  return ([name = '']) => {
    switch (name.toUpperCase()) {
      case 'HELLO':
        return "-ERR unknown command 'HELLO'\r\n";
      case 'INFO':
        return `$${info.length}\r\n${info}\r\n`;
      default:
        return '+OK\r\n';
    }
  };
}

const STARTERS = {
  sound: async (cleanUp) => (await redis(cleanUp)).port,
  closedPort: () => freePort(),
  replica: async (cleanUp) => {
    const master = await redis(cleanUp);
    return (await redis(cleanUp, '--replicaof', '127.0.0.1', String(master.port))).port;
  },
  writableReplica: async (cleanUp) => {
    const master = await redis(cleanUp);
    const args = ['--replicaof', '127.0.0.1', String(master.port), '--replica-read-only', 'no'];
    return (await redis(cleanUp, ...args)).port;
  },
  users: async (cleanUp) =>
    (
      await redis(
        cleanUp,
        ...user('noeval', ...ALL_KEYS, '-eval'),
        ...user('noevalsha', ...ALL_KEYS, '-evalsha'),
        ...user('noscripts', ...ALL_KEYS, '-@scripting'),
        ...user('noselect', ...ALL_KEYS, '-select'),
        ...user('nobzpopmin', ...ALL_KEYS, '-bzpopmin', '-zpopmin'),
        ...user('notime', ...ALL_KEYS, '-time'),
        ...user('noinfo', ...ALL_KEYS, '-info'),
        ...user('globalkeys', '~herald:*', '&*', '+@all'),
        ...user('shardkeys', '~{h*', '&*', '+@all'),
        ...user('nokeys', '&*', '+@all'),
        ...user('nochannels', '~*', 'resetchannels', '+@all'),
        ...user(
          'reader',
          '~*',
          '&*',
          '+@read',
          '+@connection',
          '+@scripting',
          '+info',
          '+time',
          '+@transaction',
          '+@pubsub',
        ),
      )
    ).port,
  password: async (cleanUp) => {
    const { port } = await redis(cleanUp);
    await askRedis(port, `CONFIG SET requirepass ${PASSWORD}`);
    return port;
  },
  renamed: async (cleanUp) => (await redis(cleanUp, '--rename-command', 'EVALSHA', '')).port,
  renamedWrite: async (cleanUp) => (await redis(cleanUp, '--rename-command', 'HSET', 'HSET_OF_OURS')).port,
  evicting: async (cleanUp) => (await redis(cleanUp, '--maxmemory', '64mb', '--maxmemory-policy', 'volatile-lru')).port,
  full: async (cleanUp) => {
    const { port } = await redis(cleanUp);
    await askRedis(port, 'CONFIG SET maxmemory 1');
    return port;
  },
  unsaved: async (cleanUp) => {
    const server = await redis(cleanUp, '--save', '3600', '1');
    const { port, dir } = server;
    cleanUp.defer(() => server.kill()); // one that can't save doesn't end when it is told to
    await rm(dir, { recursive: true, force: true });
    await askRedis(port, 'BGSAVE');
    const hasFailed = async () => (await askRedis(port, 'INFO persistence')).includes('rdb_last_bgsave_status:err');
    await waitFor('the snapshot to fail', hasFailed);
    return port;
  },
  withoutReplicas: async (cleanUp) => (await redis(cleanUp, '--min-replicas-to-write', '1')).port,
  crowded: async (cleanUp) => {
    const { port } = await redis(cleanUp);
    await askRedis(port, 'CONFIG SET maxclients 1');
    // The one connection that it takes.
    const socket = connect({ host: '127.0.0.1', port });
    cleanUp.defer(() => void socket.destroy());
    await once(socket, 'connect');
    return port;
  },
  clusterWithoutSlots: async (cleanUp) => (await redis(cleanUp, '--cluster-enabled', 'yes')).port,
  loading: (cleanUp) => startLoading(cleanUp),
  loadingWithPassword: (cleanUp) => startLoading(cleanUp, ...user('herald', ...ALL_KEYS)),
  sentinel: async (cleanUp) => startSentinel(cleanUp, (await redis(cleanUp)).port),
  sentinelWithPassword: async (cleanUp) =>
    startSentinel(cleanUp, (await redis(cleanUp)).port, `requirepass ${PASSWORD}`),
  sentinelOfTheDead: async (cleanUp) => startSentinel(cleanUp, await freePort()),
  tooOld: async (cleanUp) => cleanUp.use(await startFakeServer(speakRedis(answerAs('6.2.14')))).port,
  protected: async (cleanUp) =>
    cleanUp.use(
      await startFakeServer((socket) => {
        socket.end(
          '-DENIED Redis is running in protected mode because protected mode is enabled and no password is set.\r\n',
        );
      }),
    ).port,
  http: async (cleanUp) => {
    const server = createServer((_req, res) => res.end('hello'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanUp.defer(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
    return (server.address() as AddressInfo).port;
  },
  greeting: async (cleanUp) =>
    cleanUp.use(await startFakeServer((socket) => void socket.write('SSH-2.0-OpenSSH_9.6\r\n'))).port,
  silent: async (cleanUp) => cleanUp.use(await startFakeServer(() => undefined)).port,
  closing: async (cleanUp) => cleanUp.use(await startFakeServer((socket) => void socket.destroy())).port,
} as const satisfies Record<string, Starter>;

export type WrongServer = keyof typeof STARTERS | 'tls' | 'tlsForClients';

/** Servers that Herald can't work with, all at once. */
export interface WrongServers extends AsyncDisposable {
  portOf(server: WrongServer): number;
  /** Of the authority that signed for those with TLS. */
  readonly caFile: string;
}

export async function startWrongServers(names: readonly WrongServer[] = NAMES): Promise<WrongServers> {
  await using cleanUp = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'herald-wrong-'));
  cleanUp.defer(() => rm(dir, { recursive: true, force: true }));
  const security = { ...(await createRedisSecurity(dir)), password: PASSWORD };
  const startTls = async (...args: string[]) => cleanUp.use(await startRedis({ security, args })).clientPort;
  const start = async (name: WrongServer) => {
    if (name === 'tls') return await startTls();
    if (name === 'tlsForClients') return await startTls('--tls-auth-clients', 'yes');
    return await STARTERS[name](cleanUp);
  };
  const ports = new Map(await Promise.all(names.map(async (name) => [name, await start(name)] as const)));
  const stack = cleanUp.move();
  return {
    caFile: security.caFile,
    portOf: (server) => ports.get(server) ?? 0,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const NAMES: readonly WrongServer[] = [...(Object.keys(STARTERS) as (keyof typeof STARTERS)[]), 'tls'];
