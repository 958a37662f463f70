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
/** How often a move of slots is begun, at most. */
const MOST_TRIES = 4;

/** Faults of servers under Sentinels or of a cluster, one at a time. */
export function createReplicaFaults(topology: Topology, keyspace: Keyspace): ReplicaFaults {
  let [failovers, moves] = [0, 0];
  let moving: Promise<unknown> | undefined;
  let hasGrown = false;
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
      } else if (fault === 'grow') {
        moving = balance(topology, master, !hasGrown);
        hasGrown = true;
        moving.catch(() => undefined);
      } else if (fault === 'full-memory') await setMaxmemory(server, 1);
      else if (fault.startsWith('pause')) process.kill(server.pid, 'SIGSTOP');
      else await server.kill();
    },
    async end(fault) {
      if (!struck) throw new Error('nothing has begun');
      const { server, key, master } = struck;
      const hasSuccessor = async () => (await topology.findMasterOf(key)).port !== server.port;
      if (fault === 'failover') await waitFor('another master', hasSuccessor, DEADLINE_MS);
      const isMove = fault === 'move-slots' || fault === 'grow';
      if (isMove) await moving;
      else if (fault === 'full-memory') await setMaxmemory(server, 0);
      else if (fault.startsWith('pause')) process.kill(server.pid, 'SIGCONT');
      else await server.restart();
      await waitFor('every master to have a replica in step', () => isReplicated(topology), DEADLINE_MS);
      const hasChanged = (await topology.findMasterOf(key)).port !== master.port;
      if (hasChanged && isMove) moves++;
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

/** redis-cli, as an operator types it. */
const cli = (...args: readonly string[]) =>
  promisify(execFile)('redis-cli', ['--cluster', ...args], { maxBuffer: Infinity }).catch((error: unknown) => {
    // It says there what it doesn't like.
    const { message, stdout } = error as Error & { stdout?: string };
    throw new Error(`${message}\n${stdout?.slice(-500) ?? ''}`, { cause: error });
  });

const addressOf = ({ port }: RunningRedis) => `127.0.0.1:${port}`;

/** After a failover, or with a new node, the nodes need a moment to agree. */
function untilAgreed(server: RunningRedis): Promise<unknown> {
  return waitFor('the nodes to agree', () => isDone(cli('check', addressOf(server))), DEADLINE_MS);
}

const isDone = (work: Promise<unknown>) =>
  work.then(
    () => true,
    () => false,
  );

/** A move that breaks off leaves a slot half moved, as when a busy node takes another for dead. The operator mends it, and goes on. */
async function insist(master: RunningRedis, ...command: readonly string[]): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await cli(...command);
      return;
    } catch (error) {
      if (tries === MOST_TRIES) throw error;
    }
    await waitFor('the slots to be mended', () => isDone(cli('fix', addressOf(master))), DEADLINE_MS);
    await untilAgreed(master);
  }
}

/** As an operator does: lets a master and its replica join, if that is wanted, and gives each master its part of the slots. */
async function balance(topology: Topology, master: RunningRedis, joins: boolean): Promise<void> {
  await untilAgreed(master);
  if (joins) {
    const added = await topology.startNode();
    await cli('add-node', addressOf(added), addressOf(master));
    const id = /[0-9a-f]{40}/.exec(await askRedis(added.port, 'CLUSTER MYID'))?.[0] ?? '';
    await untilAgreed(added);
    const replica = await topology.startNode();
    await cli('add-node', addressOf(replica), addressOf(master), '--cluster-slave', '--cluster-master-id', id);
    await untilAgreed(replica);
  }
  await insist(master, 'rebalance', addressOf(master), '--cluster-use-empty-masters');
}

/** As an operator does: gives another master all slots up to that of a key. */
async function moveSlotsOf(key: string, master: RunningRedis): Promise<void> {
  await untilAgreed(master);
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
  await insist(master, 'reshard', addressOf(master), ...options);
}

/** Half of the servers are masters, each with a replica. */
async function isReplicated({ servers }: Topology): Promise<boolean> {
  const replies = await Promise.all(servers.map(readReplication));
  const masters = replies.filter((reply) => /role:master\r[^]*slave0:[^\r]*state=online/.test(reply));
  const replicas = replies.filter((reply) => reply.includes('master_link_status:up\r'));
  return masters.length === servers.length / 2 && replicas.length === masters.length;
}

const readReplication = ({ port }: RunningRedis) => askRedis(port, 'INFO replication');
