import { EVENT_NAMES } from '@herald/core';
import type { Receiver } from '@herald/test-kit';
import type { Herald } from '../tests/support/start-herald.ts';
import type { WorkspaceClient } from '../tests/support/workspace-client.ts';
import type { KnownEndpoint } from './ledger.ts';
import type { Random } from './random.ts';

export type ChaosWorkspace = { readonly client: WorkspaceClient; readonly receivers: readonly KnownEndpoint[] };

const WORKSPACES = 3;
const TASK_EVENTS = EVENT_NAMES.filter((name) => name !== 'webhook.test');

/** Workspaces with two or three receivers each, at origins that they share, of which one wants every event. */
export async function foundWorkspaces(herald: Herald, origins: readonly Receiver[], random: Random) {
  const workspaces: ChaosWorkspace[] = [];
  for (let index = 0; index < WORKSPACES; index++) {
    const client = await herald.createWorkspace();
    const receivers: KnownEndpoint[] = [];
    const size = random.between(2, 3);
    for (let count = 0; count < size; count++) {
      const path = `/workspace-${index}/receiver-${count}`;
      const events = count === 0 ? [...TASK_EVENTS] : TASK_EVENTS.filter(() => random.chance(0.6));
      const url = random.pick(origins).origin + path;
      const { id, secret, events: granted } = await client.registerReceiver({ url, events });
      receivers.push({ id, secret, workspaceId: client.id, path, events: granted });
    }
    workspaces.push({ client, receivers });
  }
  return workspaces;
}
