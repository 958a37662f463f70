import { EVENT_NAMES } from '@herald/core';
import type { Keyspace } from '@herald/store/keys/keys';
import type { Herald } from '../tests/support/start-herald.ts';
import type { WorkspaceClient } from '../tests/support/workspace-client.ts';
import type { ChaosTask } from './create-task.ts';
import { createKnownEndpoint, type KnownEndpoint } from './known-endpoint.ts';
import type { Random } from './random.ts';
import type { Host } from './start-host.ts';

export type ChaosWorkspace = {
  readonly client: WorkspaceClient;
  /** Prefix of its receivers' paths. */
  readonly folder: string;
  /** All receivers that it ever had. The first one never changes. */
  readonly receivers: KnownEndpoint[];
};

const WORKSPACES = 3;
const FLOODED_RECEIVERS = 2;
const FLOODED_TASKS = 20;
/** Of the first receiver of the first workspace: less than what a fault leaves to be sent, more than the usual load. */
const RATE_LIMIT = { perSecond: 15 };
export const TASK_EVENTS = EVENT_NAMES.filter((name) => name !== 'webhook.test');

/**
 * Workspaces with two or three receivers each, at shared origins. One receiver of each subscribes to every event. One of
 * these has a rate limit. All but the second ask for order.
 */
export async function foundWorkspaces(herald: Herald, keyspace: Keyspace, hosts: readonly Host[], random: Random) {
  const workspaces: ChaosWorkspace[] = [];
  for (let index = 0; index < WORKSPACES; index++) {
    const client = await createWorkspaceOf(herald, keyspace, index % keyspace.shards.length);
    const folder = `/workspace-${index}`;
    const receivers: KnownEndpoint[] = [];
    const size = random.between(2, 3);
    for (let count = 0; count < size; count++) {
      const path = `${folder}/receiver-${count}`;
      const wanted = count === 0 ? [...TASK_EVENTS] : TASK_EVENTS.filter(() => random.chance(0.6));
      const host = random.between(0, hosts.length - 1);
      const url = `${hosts[host]?.origin ?? ''}${path}`;
      const isOrdered = count !== 1;
      const rate = index === 0 && count === 0 ? { rateLimit: RATE_LIMIT } : {};
      const asked = { url, events: wanted, ordering: isOrdered ? 'task' : 'none', ...rate };
      const { id, secret, events } = await client.registerReceiver(asked);
      receivers.push(
        createKnownEndpoint({ id, secret, workspaceId: client.id, isOrdered, path, events, host, ...rate }),
      );
    }
    workspaces.push({ client, folder, receivers });
  }
  return workspaces;
}

/** Another workspace, which reports far more than its receivers take. They never change, and are at a host of their own. */
export async function foundFloodingWorkspace(herald: Herald, { index, origin }: { index: number; origin: string }) {
  const client = await herald.createWorkspace();
  const folder = '/flood';
  const receivers: KnownEndpoint[] = [];
  for (let count = 0; count < FLOODED_RECEIVERS; count++) {
    const path = `${folder}/receiver-${count}`;
    const { id, secret, events } = await client.registerReceiver({ url: `${origin}${path}`, events: [...TASK_EVENTS] });
    receivers.push(createKnownEndpoint({ id, secret, workspaceId: client.id, path, events, host: index }));
  }
  const workspace: ChaosWorkspace = { client, folder, receivers };
  const tasks: ChaosTask[] = [];
  for (let count = 0; count < FLOODED_TASKS; count++) tasks.push({ id: (await client.createTask()).id, workspace });
  return { ...workspace, tasks };
}

/** A new workspace id in this shard: ids, and with them shards, are random. */
async function createWorkspaceOf(herald: Herald, { shards, of }: Keyspace, shard: number): Promise<WorkspaceClient> {
  for (;;) {
    const client = await herald.createWorkspace();
    if (of(client.id) === shards[shard]) return client;
  }
}
