import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  askRedis,
  type RedisOptions,
  type RedisSecurity,
  type RunningRedis,
  securitySettings,
  startRedis,
} from './start-redis.ts';
import { findRedisServer } from './find-programs.ts';
import { freePort } from './free-port.ts';
import { launchProcess } from './start-process.ts';
import { waitFor } from './wait-for.ts';

export interface RunningRedisSentinels extends AsyncDisposable {
  readonly masterName: string;
  /** Ports of the three Sentinels, for clients. */
  readonly ports: readonly number[];
  /** The two that hold the data, whichever of them is the master. */
  readonly servers: readonly RunningRedis[];
  /** The master, as most Sentinels see it. */
  findMaster(): Promise<RunningRedis | undefined>;
  close(): Promise<void>;
}

const MASTER_NAME = 'herald';
const SENTINELS = 3;
const QUORUM = 2;
const READY_DEADLINE_MS = 30_000;
/** A master without an answer for longer counts as dead, in ms: longer than a busy machine keeps a process waiting. */
const DOWN_AFTER_MS = 2_000;
const FAILOVER_TIMEOUT_MS = 5_000;

/** A master with a replica, and three Sentinels that watch them, on their own loopback ports. */
export async function startRedisSentinels(
  options: Pick<RedisOptions, 'appendonly' | 'args' | 'security'> = {},
): Promise<RunningRedisSentinels> {
  const { security } = options;
  const host = security ? 'localhost' : '127.0.0.1';
  const ask = (port: number, command: string) => askRedis(port, command, security?.password);
  await using starting = new AsyncDisposableStack();
  // Each may become the other's replica.
  const args = [
    ...(security ? ['--masterauth', security.password, '--replica-announce-ip', host] : []),
    ...(options.args ?? []),
  ];
  const master = starting.use(await startRedis({ ...options, args }));
  const replica = starting.use(await startRedis({ ...options, args }));
  // By a command, not an argument: a replica that became the master would, after a restart, follow its own replica.
  await ask(replica.port, `REPLICAOF ${host} ${master.clientPort}`);
  const isInSync = async () => (await ask(replica.port, 'INFO replication')).includes('master_link_status:up');
  await waitFor('the replica to be in sync', isInSync, READY_DEADLINE_MS);
  const dir = await mkdtemp(join(tmpdir(), 'herald-sentinels-'));
  starting.defer(() => rm(dir, { recursive: true, force: true }));
  const ports: number[] = [];
  const clientPorts: number[] = [];
  for (let count = 0; count < SENTINELS; count++) {
    const port = await freePort();
    const clientPort = security ? await freePort() : port;
    const watched = `${host} ${master.clientPort}`;
    starting.use(await launchSentinel(dir, port, watched, security && secureSentinel(security, clientPort)));
    ports.push(port);
    clientPorts.push(clientPort);
  }
  for (const port of ports) {
    const knowsAll = async () => {
      const info = await ask(port, 'INFO sentinel');
      return info.includes(`status=ok`) && info.includes(`slaves=1,sentinels=${SENTINELS}`);
    };
    await waitFor(`the Sentinel at ${port} to know the others`, knowsAll, READY_DEADLINE_MS);
  }
  const servers = [master, replica];
  const stack = starting.move();
  const close = () => stack.disposeAsync();
  return {
    masterName: MASTER_NAME,
    ports: clientPorts,
    servers,
    async findMaster() {
      const named = await Promise.all(
        ports.map((port) => ask(port, `SENTINEL get-master-addr-by-name ${MASTER_NAME}`)),
      );
      return servers.find(
        ({ clientPort }) => named.filter((reply) => reply.includes(`\r\n${clientPort}\r\n`)).length >= QUORUM,
      );
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Lines before and after those that name the master. */
type SentinelSecurity = { readonly before: readonly string[]; readonly after: readonly string[] };

function secureSentinel(security: RedisSecurity, tlsPort: number): SentinelSecurity {
  const { password } = security;
  return {
    before: [
      ...securitySettings(security, tlsPort).map((setting) => setting.join(' ')),
      ...['resolve-hostnames yes', 'announce-hostnames yes', 'announce-ip localhost'].map((line) => `sentinel ${line}`),
      `sentinel sentinel-pass ${password}`,
    ],
    after: [`sentinel auth-pass ${MASTER_NAME} ${password}`],
  };
}

async function launchSentinel(dir: string, port: number, watched: string, security?: SentinelSecurity) {
  const command = findRedisServer();
  if (command === undefined) throw new Error('neither redis-server nor valkey-server is on the PATH');
  const file = join(dir, `sentinel-${port}.conf`);
  const lines = [
    ...[`port ${port}`, 'bind 127.0.0.1', `dir ${dir}`],
    ...(security?.before ?? []),
    `sentinel monitor ${MASTER_NAME} ${watched} ${QUORUM}`,
    ...(security?.after ?? []),
    `sentinel down-after-milliseconds ${MASTER_NAME} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${MASTER_NAME} ${FAILOVER_TIMEOUT_MS}`,
    '',
  ];
  await writeFile(file, lines.join('\n'));
  return await launchProcess({ name: 'sentinel', command, args: [file, '--sentinel'], cwd: dir, keptLines: 200 });
}
