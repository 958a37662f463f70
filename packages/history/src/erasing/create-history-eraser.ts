import type { TaskId, WorkspaceId } from '@herald/core';
import { z } from 'zod';
import type { HistoryPool } from '../pool/create-history-pool.ts';
import { inTransaction } from '../pool/in-transaction.ts';
import { withDeadline, type DeadlineOptions } from '../pool/with-deadline.ts';
import { readAttemptsText } from '../reading/delivery-row.ts';
import { ERASE_TRANSITIONS, READ_ERASABLE, WRITE_ATTEMPTS } from '../sql/erase-sql.ts';
import { LOCK_FOR_ERASING } from '../sql/lock-sql.ts';

const Bytes = z.instanceof(Uint8Array);
const ErasableRow = z.object({ created_at: z.number(), id: Bytes, transition_id: Bytes, attempts: z.string() });
const ErasedRow = z.object({ erased_at: z.number() });
/** What of an attempt tells nothing of its content. */
const KeptOfAttempt = z.object({
  at: z.number(),
  durationMs: z.number(),
  status: z.number().optional(),
  error: z.string().optional(),
});

export type HistoryEraserDeps = DeadlineOptions & { readonly pool: HistoryPool };

/** Erases what history holds of Tasks. */
export function createHistoryEraser({ pool, ...deadline }: HistoryEraserDeps) {
  const erase = (workspaceId: WorkspaceId, taskId: TaskId, erasedAt: number): Promise<number> =>
    inTransaction(pool, async (client) => {
      // Movers that read Redis before it was erased have committed now, and the next ones find it erased.
      await client.query(LOCK_FOR_ERASING);
      const rows = z.array(ErasableRow).parse((await client.query(READ_ERASABLE, [workspaceId, taskId])).rows);
      const times = rows.map((row) => row.created_at);
      const attempts = rows.map((row) => withoutContent(row.attempts));
      await client.query(WRITE_ATTEMPTS, [times, rows.map((row) => row.id), attempts]);
      const transitions = rows.map((row) => row.transition_id);
      const erased = await client.query(ERASE_TRANSITIONS, [times, transitions, erasedAt]);
      return Math.min(
        erasedAt,
        ...z
          .array(ErasedRow)
          .parse(erased.rows)
          .map((row) => row.erased_at),
      );
    });

  return {
    /**
     * Erases the bodies of a Task's transitions and what the endpoints answered. Call it when Redis has erased them: it
     * waits for what is being moved. Returns when they were erased first, epoch ms. A second run changes nothing.
     * @throws HistoryUnavailableError
     */
    eraseTask: (workspaceId: WorkspaceId, taskId: TaskId, erasedAt: number): Promise<number> =>
      withDeadline(deadline, () => erase(workspaceId, taskId, erasedAt)),
  };
}

function withoutContent(attempts: string): string {
  const kept = readAttemptsText(attempts).map((entry) => KeptOfAttempt.parse(JSON.parse(entry)));
  return JSON.stringify(kept);
}
