import {
  type AddMessage,
  askedOrderingTimeout,
  callbackIdOf,
  type CreateTask,
  type Decision,
  type Endpoint,
  InvalidTransitionError,
  judgeResolution,
  type Message,
  newMessageId,
  newSeed,
  newSigningSecret,
  newTaskId,
  NotFoundError,
  type ResolveApproval,
  type Seed,
  type Task,
  type TaskCallback,
  TaskClosedError,
  type TaskId,
  TaskIdText,
  TaskOpenError,
  type TaskStatus,
  UnavailableError,
  type WorkspaceId,
} from '@herald/core';
import type { CanceledByErasure, PayloadEraser } from '@herald/store/tasks/payload-eraser';
import { newRevision } from '@herald/store/redis/random-token';
import type { SealHeaders, SecretCipher } from '@herald/store/secrets/secret-cipher';
import {
  BYTES_OF_A_RECORD,
  MESSAGE_LIMIT,
  MESSAGE_LIMIT_BYTES,
  type TaskCursor,
  type TaskStore,
} from '@herald/store/tasks/task-store';
import { z } from 'zod';
import { TimeText, toTime } from '../http/answer-fields.ts';
import { type FindUrlProblem, refuseForbiddenUrl } from '../receivers/manage-receivers.ts';
import type { ApprovalResolved, TaskWithContents } from './task-view.ts';

type TaskOperationsDeps = {
  readonly tasks: TaskStore;
  readonly encryptSecret: SecretCipher['encrypt'];
  readonly sealHeaders: SealHeaders;
  readonly findUrlProblem: FindUrlProblem;
  readonly now: () => number;
};

/** How often a decision is tried anew when the Task changes between reading and writing. */
const RESOLVE_ROUNDS = 5;

/** The operations on Tasks that report no transition. */
export function createTaskOperations(deps: TaskOperationsDeps) {
  const { tasks, encryptSecret, sealHeaders, findUrlProblem, now } = deps;
  const find = async (workspaceId: WorkspaceId, id: TaskId) => {
    const task = await tasks.find(workspaceId, id);
    if (!task) throw new NotFoundError('task', id);
    return task;
  };

  const findWorkspace = async (id: TaskId) => {
    const workspaceId = await tasks.findWorkspace(id);
    if (workspaceId === undefined) throw new NotFoundError('task', id);
    return workspaceId;
  };

  const toCallback = (workspaceId: WorkspaceId, taskId: TaskId, asked: TaskCallback, createdAt: number) => {
    const { url, events, headers, ordering } = asked;
    const orderingTimeoutMs = askedOrderingTimeout(asked);
    const id = callbackIdOf(taskId);
    const sealed = headers && sealHeaders(headers, id);
    const endpoint: Endpoint = {
      id,
      workspaceId,
      url,
      events,
      description: '',
      enabled: true,
      createdAt,
      ...(sealed && sealed.names.length > 0 && { headerNames: sealed.names }),
      ...(ordering !== undefined && { ordering }),
      ...(orderingTimeoutMs !== undefined && { orderingTimeoutMs }),
    };
    const secret = newSigningSecret();
    return { endpoint, secret, encryptedSecret: encryptSecret(secret, id), ...(sealed && { headers: sealed }) };
  };

  return {
    find,
    listByStatus: (status: TaskStatus, limit: number, after?: TaskCursor) =>
      tasks.listByStatus(status, limit, now(), after),
    listByWorkspace: (...args: Parameters<TaskStore['listByWorkspace']>) => tasks.listByWorkspace(...args),

    /** Returns the callback and its signing secret in clear, unless an earlier run with this seed created the Task. */
    async create(
      workspaceId: WorkspaceId,
      { input, callback: asked, executionWorkspaceId }: CreateTask,
      { at: createdAt, random }: Seed = newSeed(now()),
    ) {
      if (asked) refuseForbiddenUrl(findUrlProblem, asked.url, 'callback.url');
      const id = newTaskId(createdAt, random);
      const callback = asked && toCallback(workspaceId, id, asked, createdAt);
      const task: Task = {
        id,
        workspaceId,
        createdAt,
        updatedAt: createdAt,
        sequence: 0,
        revision: newRevision(),
        status: 'queued',
        executionWorkspaceId: executionWorkspaceId ?? workspaceId,
        ...(input !== undefined && { input }),
        ...(callback && { callback: callback.endpoint }),
      };
      const reply = await tasks.create(task, callback);
      if (reply === 'exists') return { task: await find(workspaceId, id), existed: true };
      return { task, existed: false, callback };
    },

    async addMessage(
      workspaceId: WorkspaceId,
      id: TaskId,
      { text }: AddMessage,
      { at: createdAt, random }: Seed = newSeed(now()),
    ): Promise<Message> {
      await find(workspaceId, id);
      const message: Message = { id: newMessageId(createdAt, random), text, createdAt };
      const reply = await tasks.addMessage(workspaceId, id, message);
      if (reply === 'missing') throw new NotFoundError('task', id);
      if (reply === 'full')
        throw new InvalidTransitionError(
          `a Task takes at most ${MESSAGE_LIMIT} messages of ${MESSAGE_LIMIT_BYTES} bytes together`,
        );
      if (reply !== 'added') throw new TaskClosedError(id, reply);
      return message;
    },

    async resolve(
      workspaceId: WorkspaceId,
      id: TaskId,
      approvalId: string,
      request: ResolveApproval,
      mayAny: boolean,
    ): Promise<ApprovalResolved> {
      for (let round = 0; round < RESOLVE_ROUNDS; round++) {
        const task = await find(workspaceId, id);
        const earlier = await tasks.findDecision(task, request.actionVersion, approvalId);
        const verdict = judgeResolution(task, approvalId, request, earlier, mayAny);
        if (verdict.kind === 'duplicate')
          return { ...request, taskId: id, approvalId, status: task.status, duplicate: true };
        const decision: Decision = { ...request, approvalId, decidedAt: now() };
        if ((await tasks.resolve(task, decision, verdict.status)) === 'resolved') {
          return { ...request, taskId: id, approvalId, status: verdict.status, duplicate: false };
        }
      }
      throw new UnavailableError('the Task is changing too fast; resolve it again');
    },

    /** The controller workspace of a Task, for those who may use the Tasks of all. */
    findWorkspace,

    /** A Task with what it holds. `lookedAt`: messages and decisions that were read for it, and what its bytes cost. */
    async findContents(
      workspaceId: WorkspaceId,
      id: TaskId,
    ): Promise<TaskWithContents & { readonly lookedAt: number }> {
      const [task, ofTask, messages, decisions] = await Promise.all([
        find(workspaceId, id),
        tasks.sizeOf(workspaceId, id),
        tasks.listMessages(workspaceId, id),
        tasks.listDecisions(workspaceId, id),
      ]);
      const bytes = messages.reduce((sum, { text }) => sum + text.length, ofTask);
      const lookedAt = messages.length + decisions.length + Math.floor(bytes / BYTES_OF_A_RECORD);
      return { task, messages, decisions, lookedAt };
    },
  };
}
export type TaskOperations = ReturnType<typeof createTaskOperations>;

/** The answer to an erasure. */
export const PayloadsErased = z
  .strictObject({
    taskId: TaskIdText,
    erasedAt: TimeText.meta({ description: 'When it was asked for first.' }),
  })
  .meta({ id: 'PayloadsErased' });
type PayloadsErased = z.infer<typeof PayloadsErased>;

/** Tells operators about erasures. */
type ErasureReport = (canceled: readonly CanceledByErasure[]) => void;

type ErasePayloadsDeps = {
  readonly eraser: PayloadEraser;
  readonly report: ErasureReport;
  readonly now: () => number;
};

/**
 * Erases what a closed Task held.
 * @throws NotFoundError, TaskOpenError
 */
export function createErasePayloads({ eraser, report, now }: ErasePayloadsDeps) {
  return async function erasePayloads(workspaceId: WorkspaceId, taskId: TaskId): Promise<PayloadsErased> {
    const reply = await eraser.erase(workspaceId, taskId, now());
    if (reply.kind === 'missing') throw new NotFoundError('task', taskId);
    if (reply.kind === 'open') throw new TaskOpenError(taskId, reply.status);
    report(reply.canceled);
    return { taskId, erasedAt: toTime(reply.erasedAt) };
  };
}
export type ErasePayloads = ReturnType<typeof createErasePayloads>;
