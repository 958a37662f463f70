import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { readFile } from 'node:fs/promises';
import { mastersOf, type RedisClient } from '@herald/store/redis/connect-redis';
import type { RedisTarget } from '@herald/store/redis/redis-target';
import {
  askRedis,
  startRedis,
  startRedisCluster,
  startRedisSentinels,
  waitFor,
  type RedisOptions,
  type RedisSecurity,
  type RunningRedis,
} from '@herald/test-kit';
import type { Env } from './start-herald-process.ts';

export const TOPOLOGIES = ['single', 'sentinel', 'cluster'] as const;
export type TopologyKind = (typeof TOPOLOGIES)[number];

/** Servers of Redis in one of the set-ups that Herald works with. */
export interface Topology extends AsyncDisposable {
  readonly kind: TopologyKind;
  readonly target: RedisTarget;
  /** What tells a process of it. */
  readonly env: Env;
  /** The one server, where there is but one. */
  readonly server: RunningRedis | undefined;
  /** All that hold data, whatever their roles. */
  readonly servers: readonly RunningRedis[];
  /** Starts another server, which knows no other node of the cluster yet. */
  startNode(): Promise<RunningRedis>;
  /** The server that has a key now. */
  findMasterOf(key: string): Promise<RunningRedis>;
  /** The one replica, where there is but one. */
  findReplica(): Promise<RunningRedis>;
}

const noNodes = () => Promise.reject(new Error('only a cluster has nodes'));
const noSingleReplica = () => Promise.reject(new Error('only the Sentinels watch exactly one replica'));

const FAILOVER_DEADLINE_MS = 30_000;

/** What tests that need no particular one run on: one server, unless HERALD_TEST_TOPOLOGY says otherwise. */
export function topologyOfEnv(): TopologyKind {
  const { HERALD_TEST_TOPOLOGY: name = 'single' } = process.env;
  const kind = TOPOLOGIES.find((known) => known === name);
  if (!kind) throw new Error(`HERALD_TEST_TOPOLOGY must be one of ${TOPOLOGIES.join(', ')}`);
  return kind;
}

export async function startTopology(kind: TopologyKind, options: RedisOptions = {}): Promise<Topology> {
  const { security } = options;
  if (security) await trustHere(security);
  const host = security ? 'localhost' : '127.0.0.1';
  const access = security ? { usesTls: true, password: security.password } : { usesTls: false };
  const prefix = security ? `rediss://:${security.password}@` : '';
  const toList = (ports: readonly number[]) => prefix + ports.map((port) => `${host}:${port}`).join(',');
  const securityEnv = security && { NODE_EXTRA_CA_CERTS: security.caFile };
  switch (kind) {
    case 'single': {
      const server = await startRedis(options);
      const url = security ? toList([server.clientPort]) : server.url;
      return toTopology(server, {
        kind,
        target: { kind, url },
        env: { REDIS_URL: url, ...securityEnv },
        server,
        servers: [server],
        findMasterOf: () => Promise.resolve(server),
        startNode: noNodes,
        findReplica: noSingleReplica,
      });
    }
    case 'sentinel': {
      const started = await startRedisSentinels(options);
      const addresses = started.ports.map((port) => ({ host, port }));
      const target: RedisTarget = {
        kind,
        sentinels: addresses,
        masterName: started.masterName,
        access,
        database: 0,
        ...(security && { sentinelPassword: security.password }),
      };
      const env = {
        REDIS_SENTINELS: toList(started.ports),
        REDIS_SENTINEL_MASTER: started.masterName,
        ...(security && { REDIS_SENTINEL_PASSWORD: security.password, ...securityEnv }),
      };
      const find = () => waitFor('a master', () => started.findMaster(), FAILOVER_DEADLINE_MS);
      return toTopology(started, {
        kind,
        target,
        env,
        server: undefined,
        servers: started.servers,
        startNode: noNodes,
        findMasterOf: find,
        async findReplica() {
          const master = await find();
          const replica = started.servers.find((server) => server !== master);
          return replica ?? (await noSingleReplica());
        },
      });
    }
    case 'cluster': {
      const started = await startRedisCluster(options);
      const clientPorts = started.nodes.map(({ clientPort }) => clientPort);
      const nodes = clientPorts.map((port) => ({ host, port }));
      return toTopology(started, {
        kind,
        target: { kind, nodes, access },
        server: undefined,
        servers: started.nodes,
        startNode: () => started.startNode(),
        env: { REDIS_CLUSTER_NODES: toList(clientPorts), ...securityEnv },
        findReplica: noSingleReplica,
        async findMasterOf(key) {
          const reply = await Promise.all(
            started.nodes.map(({ port }) => askRedis(port, `CLUSTER KEYSLOT ${key}`, security?.password)),
          );
          const slot = Number(/^:(\d+)/.exec(reply.find((text) => text.startsWith(':')) ?? '')?.[1]);
          return await waitFor(`a master of ${key}`, () => started.findMasterOf(slot), FAILOVER_DEADLINE_MS);
        },
      });
    }
  }
}

/** Names of all keys of a pattern (default: all), of every master. */
export async function listKeys(redis: RedisClient, pattern = '*'): Promise<string[]> {
  const lists = await Promise.all(mastersOf(redis).map((master) => master.keys(pattern)));
  return lists.flat().sort();
}

function toTopology(started: AsyncDisposable, topology: Omit<Topology, typeof Symbol.asyncDispose>): Topology {
  return { ...topology, [Symbol.asyncDispose]: () => started[Symbol.asyncDispose]() };
}

/** As NODE_EXTRA_CA_CERTS does for a process that is started. */
async function trustHere({ caFile }: RedisSecurity): Promise<void> {
  setDefaultCACertificates([...getCACertificates('default'), await readFile(caFile, 'utf8')]);
}
