import { callbackIdOf } from '@herald/core';
import type { Decision, Endpoint, Message, Task, TaskId, TaskState, TaskStatus, WorkspaceId } from '@herald/core';
import { z } from 'zod';
import { endpointFields } from '../endpoints/endpoint-record.ts';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../scripts/replicated-script.ts';
import { GLOBAL_KEYS, type Keyspace } from '../keyspace/keys.ts';
import { readScoredIds } from '../keyspace/scored-ids.ts';
import { newRevision } from '../redis/revision.ts';
import { demandReplicated } from '../scripts/await-replication.ts';
import { readMessage, readTask, taskFields, type TaskRecord } from './task-record.ts';
import { taskTtlMs, type TaskRetention } from './task-retention.ts';
import { ADD_MESSAGE_LUA, CREATE_TASK_LUA, RESOLVE_APPROVAL_LUA } from './task-scripts.ts';

/** Messages that one Task may hold. */
export const MESSAGE_LIMIT = 1_000;
/** Bytes of them all, as JSON: an executor reads them in one answer. */
export const MESSAGE_LIMIT_BYTES = 1_048_576;

export type NewCallback = { readonly endpoint: Endpoint; readonly encryptedSecret: string };
export type AddMessageReply = 'added' | 'full' | 'missing' | 'done' | 'canceled';

/** Where a page of Tasks ends: the last one's change and id. */
export type TaskCursor = { readonly updatedAt: number; readonly id: TaskId };
export type TaskPage = { readonly tasks: readonly TaskRecord[]; readonly next?: TaskCursor };

export type TaskStore = {
  /** `exists`: an earlier run of the same request created it. */
  readonly create: (task: Task, callback?: NewCallback) => Promise<'created' | 'exists'>;
  /** The controller workspace of a Task. */
  readonly findWorkspace: (id: TaskId) => Promise<WorkspaceId | undefined>;
  readonly find: (workspaceId: WorkspaceId, id: TaskId) => Promise<TaskRecord | undefined>;
  readonly addMessage: (workspaceId: WorkspaceId, id: TaskId, message: Message) => Promise<AddMessageReply>;
  readonly listMessages: (workspaceId: WorkspaceId, id: TaskId) => Promise<readonly Message[]>;
  readonly listDecisions: (workspaceId: WorkspaceId, id: TaskId) => Promise<readonly Decision[]>;
  readonly findDecision: (task: TaskState, version: number, approvalId: string) => Promise<Decision | undefined>;
  /** Records a decision unless the Task changed since `task` was read. */
  readonly resolve: (task: TaskState, decision: Decision, status: TaskStatus) => Promise<'resolved' | 'conflict'>;
  /** Tasks of all workspaces in a status, longest unchanged first. */
  readonly listByStatus: (status: TaskStatus, limit: number, after?: TaskCursor) => Promise<TaskPage>;
};

export type TaskStoreDeps = ReplicatedStoreDeps & { readonly keyspace: Keyspace; readonly retention: TaskRetention };

export function createTaskStore(deps: TaskStoreDeps): TaskStore {
  const { redis, awaitReplication, keyspace, retention } = deps;
  const create = defineReplicatedScript(deps, 'createTask', CREATE_TASK_LUA);
  const addMessage = defineReplicatedScript(deps, 'addMessage', ADD_MESSAGE_LUA);
  const resolve = defineReplicatedScript(deps, 'resolveApproval', RESOLVE_APPROVAL_LUA);
  const decisionField = (version: number, approvalId: string) => `${version}:${approvalId}`;

  return {
    async create(task, callback) {
      const keys = keyspace.of(task.workspaceId);
      const ttlMs = taskTtlMs(task.status, retention);
      // The look-up first: a crash in between leaves a look-up that leads nowhere, never a Task that can't be found.
      const lookUp = GLOBAL_KEYS.taskWorkspace(task.id);
      await redis.set(lookUp, task.workspaceId, 'PX', ttlMs);
      const fields = taskFields(task);
      const creation = create(
        [
          ...[keys.task(task.id), keys.tasksIn(task.status), keys.endpoint(callback?.endpoint.id ?? task.id)],
          keys.keyVersions,
        ],
        [
          task.id,
          task.updatedAt,
          ttlMs,
          fields.length,
          task.revision,
          ...fields,
          ...(callback ? endpointFields(callback.endpoint, callback.encryptedSecret) : []),
        ],
      );
      const [reply] = await Promise.all([creation, demandReplicated(awaitReplication, { key: lookUp })]);
      return z.enum(['created', 'exists']).parse(reply);
    },
    async findWorkspace(id) {
      return (await redis.get(GLOBAL_KEYS.taskWorkspace(id))) ?? undefined;
    },
    async find(workspaceId, id) {
      const task = readTask(id, await redis.hgetall(keyspace.of(workspaceId).task(id)));
      return task?.workspaceId === workspaceId ? task : undefined;
    },
    async addMessage(workspaceId, id, message) {
      const keys = keyspace.of(workspaceId);
      const reply = await addMessage(
        [keys.task(id), keys.messages(id)],
        [JSON.stringify(message), MESSAGE_LIMIT, MESSAGE_LIMIT_BYTES],
      );
      return reply as AddMessageReply;
    },
    async listMessages(workspaceId, id) {
      return (await redis.lrange(keyspace.of(workspaceId).messages(id), 0, -1)).map(readMessage);
    },
    async listDecisions(workspaceId, id) {
      const decisions = Object.values(await redis.hgetall(keyspace.of(workspaceId).decisions(id)));
      return decisions.map((text) => JSON.parse(text) as Decision).sort((a, b) => a.decidedAt - b.decidedAt);
    },
    async findDecision(task, version, approvalId) {
      const key = keyspace.of(task.workspaceId).decisions(task.id);
      const field = decisionField(version, approvalId);
      const text = await redis.hget(key, field);
      if (text === null) return undefined;
      // Whoever asks for the same decision again is told that it stands.
      await demandReplicated(awaitReplication, { key, field });
      return JSON.parse(text) as Decision;
    },
    async resolve(task, decision, status) {
      const keys = keyspace.of(task.workspaceId);
      const ttlMs = taskTtlMs(status, retention);
      const reply = await resolve(
        [
          ...[keys.task(task.id), keys.decisions(task.id), keys.tasksIn(task.status), keys.tasksIn(status)],
          ...[keys.facts(task.id), keys.messages(task.id), keys.endpoint(callbackIdOf(task.id))],
        ],
        [
          task.revision,
          decisionField(decision.actionVersion, decision.approvalId),
          JSON.stringify(decision),
          status,
          decision.decidedAt,
          task.id,
          ttlMs,
          newRevision(),
        ],
      );
      if (reply !== 'resolved') return 'conflict';
      await redis.pexpire(GLOBAL_KEYS.taskWorkspace(task.id), ttlMs);
      return 'resolved';
    },
    async listByStatus(status, limit, after) {
      const from = after?.updatedAt ?? 0;
      const perShard = await Promise.all(
        keyspace.shards.map(async (keys) => {
          // Members of one score come in order of id; those up to the cursor's id were on the page before.
          const sameScore = after ? await redis.zcount(keys.tasksIn(status), from, from) : 0;
          const rows = await redis.zrange(
            keys.tasksIn(status),
            from,
            '+inf',
            'BYSCORE',
            'LIMIT',
            0,
            sameScore + limit + 1,
            'WITHSCORES',
          );
          return readScoredIds(rows).map(({ id, score }) => ({ id, score, key: keys.task(id) }));
        }),
      );
      const found = perShard
        .flat()
        .filter(({ id, score }) => !after || score > after.updatedAt || id > after.id)
        .sort((a, b) => a.score - b.score || (a.id < b.id ? -1 : 1));
      const page = found.slice(0, limit);
      const tasks = await Promise.all(page.map(async ({ id, key }) => readTask(id, await redis.hgetall(key))));
      const last = page.at(-1);
      return {
        tasks: tasks.filter((task) => task?.status === status) as TaskRecord[],
        ...(found.length > limit && last && { next: { updatedAt: last.score, id: last.id } }),
      };
    },
  };
}
