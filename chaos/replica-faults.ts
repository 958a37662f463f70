import type { Keyspace } from '@herald/store/keyspace/keys';
import { askRedis, waitFor, type RunningRedis } from '@herald/test-kit';
import type { Topology } from '../tests/support/start-topology.ts';
import type { ReplicaFault } from './plan.ts';

export type ReplicaFaults = {
  begin(shard: number, fault: ReplicaFault): Promise<void>;
  /** Waits until every master has a replica in sync: replicated data survives the loss of one server at a time. */
  end(fault: ReplicaFault): Promise<void>;
  /** Number of failovers. */
  readonly failovers: number;
};

/**
 * Sentinels reconfigure a former master 10 s after it comes back, and start no failover shortly after another; in ms.
 */
const DEADLINE_MS = 90_000;

/** Faults of servers under Sentinels or of a cluster, one at a time. */
export function createReplicaFaults(topology: Topology, keyspace: Keyspace): ReplicaFaults {
  let failovers = 0;
  let struck: { readonly server: RunningRedis; readonly key: string; readonly master: RunningRedis } | undefined;
  return {
    get failovers() {
      return failovers;
    },
    async begin(shard, fault) {
      const key = keyspace.shards[shard]?.keyVersions;
      if (key === undefined) throw new Error(`there is no shard ${shard}`);
      const master = await topology.findMasterOf(key);
      const server = fault.endsWith('replica') ? await findReplicaOf(topology, master) : master;
      struck = { server, key, master };
      if (fault.startsWith('pause')) process.kill(server.pid, 'SIGSTOP');
      else await server.kill();
    },
    async end(fault) {
      if (!struck) throw new Error('nothing has begun');
      const { server, key, master } = struck;
      const hasSuccessor = async () => (await topology.findMasterOf(key)).port !== server.port;
      if (fault === 'failover') await waitFor('another master', hasSuccessor, DEADLINE_MS);
      if (fault.startsWith('pause')) process.kill(server.pid, 'SIGCONT');
      else await server.restart();
      await waitFor('every master to have a replica in step', () => isReplicated(topology), DEADLINE_MS);
      if ((await topology.findMasterOf(key)).port !== master.port) failovers++;
      struck = undefined;
    },
  };
}

async function findReplicaOf({ servers }: Topology, master: RunningRedis): Promise<RunningRedis> {
  for (const server of servers) {
    if ((await readReplication(server)).includes(`master_port:${master.port}\r`)) return server;
  }
  throw new Error(`the master at ${master.port} has no replica`);
}

/** Half of the servers are masters, each with a replica. */
async function isReplicated({ servers }: Topology): Promise<boolean> {
  const replies = await Promise.all(servers.map(readReplication));
  const masters = replies.filter((reply) => /role:master\r[^]*slave0:[^\r]*state=online/.test(reply));
  const replicas = replies.filter((reply) => reply.includes('master_link_status:up\r'));
  return masters.length === servers.length / 2 && replicas.length === masters.length;
}

const readReplication = ({ port }: RunningRedis) => askRedis(port, 'INFO replication');
