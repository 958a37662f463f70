import { callbackIdOf } from '@herald/core';
import { randomUUID } from 'node:crypto';
import type { CreatedTask } from '../tests/support/workspace-client.ts';
import type { ChaosWorkspace } from './found-workspaces.ts';
import { insistOnce } from './insist-once.ts';
import { createKnownEndpoint, type KnownEndpoint } from './known-endpoint.ts';
import type { Insist } from './patient-client.ts';
import type { Random } from './random.ts';
import { rotateSecret } from './rotate-secret.ts';

export type ChaosTask = { readonly id: string; readonly workspace: ChaosWorkspace };

export type CreateTaskDeps = {
  readonly insist: Insist;
  readonly origins: readonly string[];
  /** Gets every callback, before anything can arrive at it. */
  readonly onCallback: (endpoint: KnownEndpoint) => void;
};

const CALLBACK_SHARE = 0.4;
const ORDERED_SHARE = 0.5;

type Created = Omit<CreatedTask, 'callback'> & { callback?: { events: string[]; secret?: string } };

/**
 * Creates a Task even when answers are lost. In that case it rotates the callback's secret, as the contract advises.
 */
export async function createTask(deps: CreateTaskDeps, workspace: ChaosWorkspace, random: Random): Promise<ChaosTask> {
  const { insist, origins, onCallback } = deps;
  const { key, id: workspaceId } = workspace.client;
  const path = `/callback/${randomUUID()}`;
  const host = random.between(0, origins.length - 1);
  const isOrdered = random.chance(ORDERED_SHARE);
  const ordering = isOrdered ? 'task' : 'none';
  const callback = random.chance(CALLBACK_SHARE) ? { url: `${origins[host] ?? ''}${path}`, ordering } : undefined;
  const created = await insistOnTask(insist, key, callback === undefined ? {} : { callback });
  if (!created.callback) return { id: created.id, workspace };
  const { events, secret } = created.callback;
  const endpoint = createKnownEndpoint({
    id: callbackIdOf(created.id),
    workspaceId,
    taskId: created.id,
    isOrdered,
    path,
    events,
    host,
    secret,
  });
  onCallback(endpoint);
  if (secret === undefined) await rotateSecret(insist, key, `/tasks/${created.id}/callback`, endpoint, 0);
  return { id: created.id, workspace };
}

async function insistOnTask(insist: Insist, key: string, body: object): Promise<Created> {
  for (;;) {
    const answer = await insistOnce(insist, '/tasks', { key, body });
    if (answer?.status === 201) return answer.body as Created;
    if (answer) throw new Error(`a creation was answered ${answer.text}`);
    // That Task may exist, but no report about it follows.
  }
}
