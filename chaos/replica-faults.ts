import type { Keyspace } from '@herald/store/keys/keys';
import { askRedis, waitFor, type RunningRedis } from '@herald/test-kit';
import type { Topology } from '../tests/support/start-topology.ts';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ReplicaFault } from './plan.ts';
import { setMaxmemory } from './server-faults.ts';

export type ReplicaFaults = {
  begin(shard: number, fault: ReplicaFault): Promise<void>;
  /** Waits until every master has a replica in sync: replicated data survives the loss of one server at a time. */
  end(fault: ReplicaFault): Promise<void>;
  /** Number of failovers. */
  readonly failovers: number;
  /** Number of shards that went to another master. */
  readonly moves: number;
};

/**
 * Sentinels reconfigure a former master 10 s after it comes back, and start no failover shortly after another; in ms.
 */
const DEADLINE_MS = 90_000;

/** Faults of servers under Sentinels or of a cluster, one at a time. */
export function createReplicaFaults(topology: Topology, keyspace: Keyspace): ReplicaFaults {
  let [failovers, moves] = [0, 0];
  let moving: Promise<unknown> | undefined;
  let struck: { readonly server: RunningRedis; readonly key: string; readonly master: RunningRedis } | undefined;
  return {
    get failovers() {
      return failovers;
    },
    get moves() {
      return moves;
    },
    async begin(shard, fault) {
      const key = keyspace.shards[shard]?.keyVersions;
      if (key === undefined) throw new Error(`there is no shard ${shard}`);
      const master = await topology.findMasterOf(key);
      const server = fault.endsWith('replica') ? await findReplicaOf(topology, master) : master;
      struck = { server, key, master };
      if (fault === 'move-slots') {
        moving = moveSlotsOf(key, master);
        moving.catch(() => undefined); // told at its end
      } else if (fault === 'full-memory') await setMaxmemory(server, 1);
      else if (fault.startsWith('pause')) process.kill(server.pid, 'SIGSTOP');
      else await server.kill();
    },
    async end(fault) {
      if (!struck) throw new Error('nothing has begun');
      const { server, key, master } = struck;
      const hasSuccessor = async () => (await topology.findMasterOf(key)).port !== server.port;
      if (fault === 'failover') await waitFor('another master', hasSuccessor, DEADLINE_MS);
      if (fault === 'move-slots') await moving;
      else if (fault === 'full-memory') await setMaxmemory(server, 0);
      else if (fault.startsWith('pause')) process.kill(server.pid, 'SIGCONT');
      else await server.restart();
      await waitFor('every master to have a replica in step', () => isReplicated(topology), DEADLINE_MS);
      const hasChanged = (await topology.findMasterOf(key)).port !== master.port;
      if (hasChanged && fault === 'move-slots') moves++;
      else if (hasChanged) failovers++;
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

/** As an operator does: gives another master all slots up to that of a key. */
async function moveSlotsOf(key: string, master: RunningRedis): Promise<void> {
  const address = `127.0.0.1:${master.port}`;
  const cli = (...args: readonly string[]) =>
    promisify(execFile)('redis-cli', ['--cluster', ...args], { maxBuffer: Infinity }).catch((error: unknown) => {
      // It says there what it doesn't like.
      const { message, stdout } = error as Error & { stdout?: string };
      throw new Error(`${message}\n${stdout?.slice(-500) ?? ''}`, { cause: error });
    });
  // After a failover the nodes need a moment to agree.
  const isWell = () =>
    cli('check', address).then(
      () => true,
      () => false,
    );
  await waitFor('the nodes to agree', isWell, DEADLINE_MS);
  const slot = Number(/\d+/.exec(await askRedis(master.port, `CLUSTER KEYSLOT ${key}`))?.[0]);
  const masters = (await askRedis(master.port, 'CLUSTER NODES'))
    .split('\n')
    .filter((line) => / (?:myself,)?master /.test(line));
  const from = masters.find((line) => line.includes('myself'));
  const to = masters.find((line) => line !== from);
  if (!from || !to) throw new Error('a cluster has several masters');
  const [id = '', , , , , , , , ...ranges] = from.trim().split(' ');
  const count = ranges.reduce((sum, range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return sum + Math.max(0, Math.min(last, slot) - first + 1);
  }, 0);
  const target = to.split(' ', 1)[0] ?? '';
  const options = ['--cluster-from', id, '--cluster-to', target, '--cluster-slots', String(count), '--cluster-yes'];
  await cli('reshard', address, ...options);
}

/** Half of the servers are masters, each with a replica. */
async function isReplicated({ servers }: Topology): Promise<boolean> {
  const replies = await Promise.all(servers.map(readReplication));
  const masters = replies.filter((reply) => /role:master\r[^]*slave0:[^\r]*state=online/.test(reply));
  const replicas = replies.filter((reply) => reply.includes('master_link_status:up\r'));
  return masters.length === servers.length / 2 && replicas.length === masters.length;
}

const readReplication = ({ port }: RunningRedis) => askRedis(port, 'INFO replication');
