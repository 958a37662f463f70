import { callbackIdOf } from '@herald/core';
import type { Receiver } from '@herald/test-kit';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { CreatedTask } from '../tests/support/workspace-client.ts';
import type { ChaosWorkspace } from './found-workspaces.ts';
import type { KnownEndpoint } from './ledger.ts';
import type { Insist } from './patient-client.ts';
import type { Random } from './random.ts';

export type ChaosTask = {
  readonly id: string;
  readonly workspace: ChaosWorkspace;
  /** The workspace's receivers, and its callback if it has one. */
  readonly endpoints: readonly KnownEndpoint[];
};

export type CreateTaskDeps = {
  readonly insist: Insist;
  readonly origins: readonly Receiver[];
  /** Learns of every callback, before anything can arrive at it. */
  readonly onCallback: (endpoint: KnownEndpoint) => void;
};

const CALLBACK_SHARE = 0.4;
const CLAIM_TRIES = 10;

/** Creates a Task for sure, although the answer may be lost: then its callback's secret is rotated, as the contract advises. */
export async function createTask(deps: CreateTaskDeps, workspace: ChaosWorkspace, random: Random): Promise<ChaosTask> {
  const { insist, origins, onCallback } = deps;
  const { key, id: workspaceId } = workspace.client;
  const path = `/callback/${randomUUID()}`;
  const callback = random.chance(CALLBACK_SHARE) ? { url: random.pick(origins).origin + path } : undefined;
  const created = await insistOnTask(insist, key, callback === undefined ? {} : { callback });
  if (!created.callback) return { id: created.id, workspace, endpoints: workspace.receivers };
  const endpoint: KnownEndpoint = {
    ...{ id: callbackIdOf(created.id), workspaceId, path, events: created.callback.events },
    secret: created.callback.secret ?? (await rotate(insist, key, created.id)),
  };
  onCallback(endpoint);
  return { id: created.id, workspace, endpoints: [...workspace.receivers, endpoint] };
}

type Created = Omit<CreatedTask, 'callback'> & { callback?: { events: string[]; secret?: string } };

async function insistOnTask(insist: Insist, key: string, body: object): Promise<Created> {
  for (;;) {
    const headers = { 'idempotency-key': randomUUID() };
    for (let tries = 0; tries < CLAIM_TRIES; tries++) {
      const answer = await insist('POST', '/tasks', { key, body, headers });
      if (answer.status === 201) return answer.body as Created;
      if (answer.status !== 409) throw new Error(`a creation was answered ${answer.text}`);
      await pause(300);
    }
    // Its process died with the claim, which holds for a minute. That Task may exist, and nothing is ever reported of it.
  }
}

async function rotate(insist: Insist, key: string, taskId: string): Promise<string> {
  const path = `/tasks/${taskId}/callback/secret/rotate`;
  const answer = await insist('POST', path, { key, body: { overlapSeconds: 0 } });
  if (answer.status !== 200) throw new Error(`a rotation was answered ${answer.text}`);
  return (answer.body as { secret: string }).secret;
}
