import type { TaskId, WorkspaceId } from '@herald/core';
import type { PoolClient } from 'pg';
import { z } from 'zod';
import { withDeadline, type DeadlineOptions } from '../errors/history-errors.ts';
import { listDayTables, type HistoryTable } from '../partitions/partitions.ts';
import { inTransaction, type HistoryPool } from '../pool/create-history-pool.ts';
import { readAttemptsText, withoutAnswer } from '../reading/delivery-row.ts';
import { eraseTransitions, LIST_UNERASED, LOCK_FOR_ERASING, readErasable, writeAttempts } from '../sql/history-sql.ts';

const Bytes = z.instanceof(Uint8Array);
const ErasableRow = z.object({ created_at: z.number(), id: Bytes, transition_id: Bytes, attempts: z.string() });
const UnerasedRow = z.object({ task_id: z.string() });
const ErasedRow = z.object({ erased_at: z.number() });

/** A day that begins to be dropped in the middle makes it look once more. */
const ROUNDS = 5;

type HistoryEraserDeps = DeadlineOptions & { readonly pool: HistoryPool };

/** Erases what history holds of Tasks. */
export function createHistoryEraser({ pool, ...deadline }: HistoryEraserDeps) {
  const erase = (workspaceId: WorkspaceId, taskId: TaskId, erasedAt: number) =>
    inTransaction(pool, { statementMs: deadline.limitMs }, async (client) => {
      // Movers that read Redis before it was erased have committed now, and the next ones find it erased. Nobody drops a
      // table meanwhile.
      await client.query(LOCK_FOR_ERASING);
      const times: number[] = [];
      let hidden = await listHidden(client);
      for (let round = 0; round < ROUNDS; round++) {
        times.push(...(await eraseIn(client, hidden, [workspaceId, taskId], erasedAt)));
        const now = await listHidden(client);
        if (now.join() === hidden.join()) return times.length === 0 ? undefined : Math.min(erasedAt, ...times);
        hidden = now;
      }
      throw new Error('days begin to be dropped one after the other');
    });

  return {
    /**
     * Erases the bodies of a Task's transitions and what the endpoints answered, also in days that are being dropped. Call
     * it when Redis has erased them: it waits for what is being moved. Returns when they were erased first, epoch ms;
     * undefined when there is nothing of the Task. A second run changes nothing.
     * @throws HistoryUnavailableError
     */
    eraseTask: (workspaceId: WorkspaceId, taskId: TaskId, erasedAt: number): Promise<number | undefined> =>
      withDeadline(deadline, () => erase(workspaceId, taskId, erasedAt)),

    /**
     * Some of a workspace's Tasks that history holds something of which is not erased; none: it holds nothing more.
     * @throws HistoryUnavailableError
     */
    listUnerased: (workspaceId: WorkspaceId, limit: number): Promise<readonly TaskId[]> =>
      withDeadline(deadline, async () => {
        const { rows } = await pool.query(LIST_UNERASED, [workspaceId, limit]);
        return z
          .array(UnerasedRow)
          .parse(rows)
          .map((row) => row.task_id);
      }),
  };
}

/** Tables of days that can't be read through the whole table: they are being dropped, or somebody has detached them. */
async function listHidden(client: PoolClient): Promise<readonly string[]> {
  return (await listDayTables(client)).filter(({ state }) => state !== 'attached').map(({ name }) => name);
}

/** Returns when each transition was erased. */
async function eraseIn(client: PoolClient, hidden: readonly string[], task: readonly string[], erasedAt: number) {
  const tablesOf = (table: HistoryTable) => [table, ...hidden.filter((name) => name.startsWith(`${table}_`))];
  const transitions: { readonly at: number; readonly id: Uint8Array }[] = [];
  for (const table of tablesOf('deliveries')) {
    const rows = z.array(ErasableRow).parse((await client.query(readErasable(table), [...task])).rows);
    const attempts = rows.map((row) => `[${readAttemptsText(row.attempts).map(withoutAnswer).join(',')}]`);
    await client.query(writeAttempts(table), [rows.map((row) => row.created_at), rows.map(({ id }) => id), attempts]);
    transitions.push(...rows.map((row) => ({ at: row.created_at, id: row.transition_id })));
  }
  const times: number[] = [];
  for (const table of tablesOf('transitions')) {
    const given = [transitions.map(({ at }) => at), transitions.map(({ id }) => id), erasedAt];
    const { rows } = await client.query(eraseTransitions(table), given);
    times.push(
      ...z
        .array(ErasedRow)
        .parse(rows)
        .map((row) => row.erased_at),
    );
  }
  return times;
}
