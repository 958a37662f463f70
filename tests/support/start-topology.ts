import { mastersOf, type RedisClient, type RedisTarget } from '@herald/infra';
import {
  askRedis,
  startRedis,
  startRedisCluster,
  startRedisSentinels,
  waitFor,
  type RedisOptions,
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
  /** The server that has a key now. */
  findMasterOf(key: string): Promise<RunningRedis>;
  /** The one replica, where there is but one. */
  findReplica(): Promise<RunningRedis>;
}

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
  switch (kind) {
    case 'single': {
      const server = await startRedis(options);
      const { url } = server;
      return toTopology(server, {
        ...{ kind, target: { kind, url }, env: { REDIS_URL: url }, server },
        findMasterOf: () => Promise.resolve(server),
        findReplica: noSingleReplica,
      });
    }
    case 'sentinel': {
      const started = await startRedisSentinels(options);
      const addresses = started.ports.map((port) => ({ host: '127.0.0.1', port }));
      const target: RedisTarget = {
        ...{ kind, sentinels: addresses, masterName: started.masterName },
        ...{ access: { usesTls: false }, database: 0 },
      };
      const env = { REDIS_SENTINELS: toList(started.ports), REDIS_SENTINEL_MASTER: started.masterName };
      const find = () => waitFor('a master', () => started.findMaster(), FAILOVER_DEADLINE_MS);
      return toTopology(started, {
        ...{ kind, target, env, server: undefined, findMasterOf: find },
        async findReplica() {
          const master = await find();
          const replica = started.servers.find((server) => server !== master);
          return replica ?? (await noSingleReplica());
        },
      });
    }
    case 'cluster': {
      const started = await startRedisCluster(options);
      const ports = started.nodes.map(({ port }) => port);
      const nodes = ports.map((port) => ({ host: '127.0.0.1', port }));
      return toTopology(started, {
        ...{ kind, target: { kind, nodes, access: { usesTls: false } }, server: undefined },
        env: { REDIS_CLUSTER_NODES: toList(ports) },
        findReplica: noSingleReplica,
        async findMasterOf(key) {
          const reply = await Promise.all(ports.map((port) => askRedis(port, `CLUSTER KEYSLOT ${key}`)));
          const slot = Number(/^:(\d+)/.exec(reply.find((text) => text.startsWith(':')) ?? '')?.[1]);
          return await waitFor(`a master of ${key}`, () => started.findMasterOf(slot), FAILOVER_DEADLINE_MS);
        },
      });
    }
  }
}

/** Names of all keys, of every master. */
export async function listKeys(redis: RedisClient): Promise<string[]> {
  const lists = await Promise.all(mastersOf(redis).map((master) => master.keys('*')));
  return lists.flat().sort();
}

function toTopology(started: AsyncDisposable, topology: Omit<Topology, typeof Symbol.asyncDispose>): Topology {
  return { ...topology, [Symbol.asyncDispose]: () => started[Symbol.asyncDispose]() };
}

function toList(ports: readonly number[]): string {
  return ports.map((port) => `127.0.0.1:${port}`).join(',');
}
