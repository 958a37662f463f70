import { askRedis, type RedisOptions, type RunningRedis, startRedis } from './start-redis.ts';
import { freePort } from './free-port.ts';
import { waitFor } from './wait-for.ts';

export interface RunningRedisCluster extends AsyncDisposable {
  /** All: six, and those that were started later. */
  readonly nodes: readonly RunningRedis[];
  /** Starts another server, which knows no other node yet. */
  startNode(): Promise<RunningRedis>;
  /** The node that serves a slot now; undefined while there is none. */
  findMasterOf(slot: number): Promise<RunningRedis | undefined>;
  close(): Promise<void>;
}

const MASTERS = 3;
const SLOTS = 16_384;
const FORM_DEADLINE_MS = 30_000;
/** A node without an answer for longer counts as dead, in ms: longer than a busy machine keeps a process waiting. */
const NODE_TIMEOUT_MS = 2_000;
const SECURITY_ARGS = [
  ...['--tls-cluster', 'yes', '--cluster-announce-hostname', 'localhost'],
  ...['--cluster-preferred-endpoint-type', 'hostname'],
];

/** A Redis Cluster of three masters with a replica each, on its own loopback ports. */
export async function startRedisCluster(
  options: Pick<RedisOptions, 'appendonly' | 'args' | 'security'> = {},
): Promise<RunningRedisCluster> {
  const { security } = options;
  const ask: Ask = (port, command) => askRedis(port, command, security?.password);
  await using starting = new AsyncDisposableStack();
  const start = async (stack: AsyncDisposableStack) => {
    const busPort = await freePort();
    const args = [
      ...['--cluster-enabled', 'yes', '--cluster-port', String(busPort)],
      ...['--cluster-node-timeout', String(NODE_TIMEOUT_MS)],
      // A replica may take its master's place, however long it was disconnected.
      ...['--cluster-replica-validity-factor', '0', '--repl-diskless-sync-delay', '0'],
      ...(security ? [...SECURITY_ARGS, '--masterauth', security.password] : []),
      ...(options.args ?? []),
    ];
    return { redis: stack.use(await startRedis({ ...options, args })), busPort };
  };
  const nodes = await Promise.all(Array.from({ length: 2 * MASTERS }, () => start(starting)));
  await form(
    ask,
    nodes.map(({ redis: { port, clientPort }, busPort }) => ({ port, clientPort, busPort })),
  );
  const servers = nodes.map(({ redis }) => redis);
  const stack = starting.move();
  const close = () => stack.disposeAsync();
  return {
    nodes: servers,
    async startNode() {
      const { redis } = await start(stack);
      servers.push(redis);
      return redis;
    },
    async findMasterOf(slot) {
      for (const { port } of servers) {
        const owner = readOwner(await ask(port, 'CLUSTER NODES'), slot);
        const found = servers.find((server) => server.port === owner);
        if (found) return found;
      }
      return undefined;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

type Address = { readonly port: number; readonly clientPort: number; readonly busPort: number };
type Ask = (port: number, command: string) => Promise<string>;

async function form(ask: Ask, nodes: readonly Address[]): Promise<void> {
  const [first] = nodes;
  if (!first) throw new Error('a cluster has nodes');
  for (const [index, { port }] of nodes.entries()) {
    await expectOk(ask, port, `CLUSTER SET-CONFIG-EPOCH ${index + 1}`);
    if (index < MASTERS) await expectOk(ask, port, `CLUSTER ADDSLOTSRANGE ${slotAt(index)} ${slotAt(index + 1) - 1}`);
  }
  for (const { clientPort, busPort } of nodes.slice(1)) {
    await expectOk(ask, first.port, `CLUSTER MEET 127.0.0.1 ${clientPort} ${busPort}`);
  }
  for (const [index, { port }] of nodes.slice(MASTERS).entries()) {
    const master = await ask(nodes[index]?.port ?? 0, 'CLUSTER MYID');
    const id = /[0-9a-f]{40}/.exec(master)?.[0] ?? '';
    // It refuses until it has heard of its master.
    const follows = async () => (await ask(port, `CLUSTER REPLICATE ${id}`)).startsWith('+OK');
    await waitFor(`the node at ${port} to follow its master`, follows, FORM_DEADLINE_MS);
  }
  for (const [index, { port }] of nodes.entries()) {
    const isReady = async () => {
      const [info, known, replication] = await Promise.all(
        ['CLUSTER INFO', 'CLUSTER NODES', 'INFO replication'].map((command) => ask(port, command)),
      );
      const inSync = index < MASTERS ? 'connected_slaves:1' : 'master_link_status:up';
      return (
        info?.includes('cluster_state:ok') === true &&
        info.includes(`cluster_known_nodes:${nodes.length}`) &&
        known?.match(/\bslave /g)?.length === nodes.length - MASTERS &&
        replication?.includes(inSync)
      );
    };
    await waitFor(`the node at ${port} to know its cluster`, isReady, FORM_DEADLINE_MS);
  }
}

async function expectOk(ask: Ask, port: number, command: string): Promise<void> {
  const reply = await ask(port, command);
  if (!reply.startsWith('+OK')) throw new Error(`the node at ${port} answered ${command} with ${reply.trim()}`);
}

function slotAt(index: number): number {
  return Math.floor((index * SLOTS) / MASTERS);
}

/** The port of the live master of a slot, from the reply of CLUSTER NODES. */
function readOwner(text: string, slot: number): number | undefined {
  for (const line of text.split('\n')) {
    const [, address = '', flags = '', , , , , link, ...ranges] = line.trim().split(' ');
    const isAlive = flags.includes('master') && !flags.includes('fail') && link === 'connected';
    const holds = ranges.some((range) => {
      const [from, to = from] = range.split('-').map(Number);
      return from !== undefined && to !== undefined && from <= slot && slot <= to;
    });
    if (isAlive && holds) return Number(/:(\d+)@/.exec(address)?.[1]);
  }
  return undefined;
}
