import { NotFoundError, TaskIdText, TaskOpenError, type TaskId, type WorkspaceId } from '@herald/core';
import type { CanceledByErasure, PayloadEraser } from '@herald/store/erasing/payload-eraser';
import { z } from 'zod';
import { TimeText, toTime } from '../http/to-time.ts';

/** The answer to an erasure. */
export const PayloadsErased = z
  .strictObject({
    taskId: TaskIdText,
    erasedAt: TimeText.meta({ description: 'When it was asked for first.' }),
  })
  .meta({ id: 'PayloadsErased' });
type PayloadsErased = z.infer<typeof PayloadsErased>;

/** Tells operators about erasures. */
export type ErasureReport = (canceled: readonly CanceledByErasure[]) => void;

export type ErasePayloadsDeps = {
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
