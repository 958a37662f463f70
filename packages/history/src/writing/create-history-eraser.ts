import type { TaskId, WorkspaceId } from '@herald/core';
import { z } from 'zod';
import { withDeadline, type DeadlineOptions } from '../errors/history-errors.ts';
import { dayOf, listDayTables, type HistoryTable } from '../partitions/partitions.ts';
import { divideDays, readDays, type Stretch } from '../partitions/stretches.ts';
import { inTransaction, type HistoryPool } from '../pool/create-history-pool.ts';
import { createTurns } from '../pool/create-turns.ts';
import { readAttemptsText, withoutAnswer } from '../reading/delivery-row.ts';
import * as SQL from '../sql/history-sql.ts';

const Bytes = z.instanceof(Uint8Array);
const ErasableRow = z.object({ created_at: z.number(), id: Bytes, transition_id: Bytes, attempts: z.string() });
const UnerasedRow = z.object({ task_id: z.string() });
const ErasedRow = z.object({ erased_at: z.number() });
const TimeRow = z.object({ created_at: z.number() });

/** A day that begins to be dropped in the middle makes it look once more. */
const ROUNDS = 5;
/** Of one workspace: it must not take all connections. */
const AT_ONCE = 1;
/** Deliveries of a transaction: nobody moves anything meanwhile, and what is committed isn't done again. */
const BATCH = 2_000;

type HistoryEraserDeps = DeadlineOptions & { readonly pool: Pick<HistoryPool, 'connect'> };

/** Erases what history holds of Tasks. What nobody waits for any more ends in PostgreSQL, too. */
export function createHistoryEraser({ pool, ...deadline }: HistoryEraserDeps) {
  const take = createTurns(AT_ONCE);
  /**
   * Waits for the turn of the workspace, for as long as the work itself may take: it is not history that is late.
   * @param work gets what makes one transaction after the other. Each statement has the time that is left.
   */
  const run = <T>(workspaceId: WorkspaceId, work: (transact: Transact) => Promise<T>): Promise<T> =>
    take(
      workspaceId,
      () => deadline.limitMs,
      () => {
        const endsAt = performance.now() + deadline.limitMs;
        const remaining = () => Math.ceil(Math.max(1, endsAt - performance.now()));
        const transact: Transact = (ask) =>
          inTransaction(pool, { statementMs: remaining() }, (client) =>
            ask({
              query: async (text, values = []) => {
                await client.query(`SET LOCAL statement_timeout = ${remaining()}`);
                return { rows: (await client.query(text, [...values])).rows as unknown[] };
              },
            }),
          );
        return withDeadline(deadline, () => work(transact));
      },
    );

  return {
    /**
     * Erases the bodies of a Task's transitions and what the endpoints answered, also in days that are being dropped. Call
     * it when Redis has erased them: it waits for what is being moved. Returns when they were erased first, epoch ms;
     * undefined when there is nothing of the Task. A second run changes nothing, and goes on where the first was cut off.
     * @throws HistoryUnavailableError
     */
    eraseTask: (workspaceId: WorkspaceId, taskId: TaskId, erasedAt: number): Promise<number | undefined> =>
      run(workspaceId, async (transact) => {
        const task = [workspaceId, taskId];
        const times: number[] = [];
        const erase = async (client: Client, batch: readonly Stretch[]) => {
          const erased = await inAllDays(client, (hidden) => eraseIn(client, hidden, task, batch, erasedAt));
          for (const time of erased) times.push(time);
        };
        const others = await transact(async (client) => {
          // Movers that read Redis before it was erased have committed now, and the next ones find it erased. Nobody drops
          // a table meanwhile.
          await client.query(SQL.LOCK_FOR_ERASING);
          const [batch, ...more] = toBatches(await inAllDays(client, (hidden) => findTimes(client, hidden, task)));
          if (batch) await erase(client, batch);
          return more;
        });
        for (const batch of others) {
          // Nobody writes a delivery between the moment in which it is read here and that in which it is written.
          await transact(async (client) => {
            await client.query(SQL.LOCK_FOR_ERASING);
            await erase(client, batch);
          });
        }
        return times.length === 0 ? undefined : times.reduce((a, b) => Math.min(a, b), erasedAt);
      }),

    /**
     * Some of a workspace's Tasks that history holds something of which is not erased; none: it holds nothing more.
     * @throws HistoryUnavailableError
     */
    listUnerased: (workspaceId: WorkspaceId, limit: number): Promise<readonly TaskId[]> =>
      run(workspaceId, async (transact) => {
        const found = new Set<TaskId>();
        for (const { from, to } of await transact(listStretches)) {
          const { rows } = await transact((client) => client.query(SQL.LIST_UNERASED, [workspaceId, limit, from, to]));
          for (const row of z.array(UnerasedRow).parse(rows)) found.add(row.task_id);
          if (found.size >= limit) break;
        }
        return [...found].slice(0, limit);
      }),
  };
}

type Client = { query(text: string, values?: readonly unknown[]): Promise<{ rows: unknown[] }> };
type Transact = <T>(work: (client: Client) => Promise<T>) => Promise<T>;

const listStretches = async (client: Client): Promise<readonly Stretch[]> =>
  divideDays(readDays((await client.query(SQL.READ_DAYS)).rows), 'any');

/** Tables of days that can't be read through the whole table: they are being dropped, or somebody has detached them. */
async function listHidden(client: Client): Promise<readonly string[]> {
  return (await listDayTables(client)).filter(({ state }) => state !== 'attached').map(({ name }) => name);
}

/** Of the whole table, and of the days that can't be read through it. */
const tablesOf = (table: HistoryTable, hidden: readonly string[]) => [
  table,
  ...hidden.filter((name) => name.startsWith(`${table}_`)),
];

/** What all rounds return: one more follows when another day can't be read through the whole table after one. */
async function inAllDays<T>(client: Client, work: (hidden: readonly string[]) => Promise<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  let hidden = await listHidden(client);
  for (let round = 0; round < ROUNDS; round++) {
    for (const each of await work(hidden)) all.push(each);
    const now = await listHidden(client);
    if (now.join() === hidden.join()) return all;
    hidden = now;
  }
  throw new Error('days begin to be dropped one after the other');
}

/** When each delivery of the Task was accepted. */
async function findTimes(client: Client, hidden: readonly string[], task: readonly string[]): Promise<number[]> {
  const times: number[] = [];
  const look = async (table: string, { from, to }: Stretch) => {
    const { rows } = await client.query(SQL.timesOfTask(table), [...task, from, to]);
    for (const row of z.array(TimeRow).parse(rows)) times.push(row.created_at);
  };
  for (const stretch of await listStretches(client)) {
    // PostgreSQL locks each day that it looks at, and has room for those of one stretch. This unlocks them.
    await client.query('SAVEPOINT looking');
    await look('deliveries', stretch);
    await client.query('ROLLBACK TO SAVEPOINT looking');
  }
  const [, ...others] = tablesOf('deliveries', hidden);
  for (const table of others) await look(table, { from: 0, to: Number.MAX_SAFE_INTEGER });
  return times;
}

/** What one transaction erases after the other, the oldest first. Each part of it lies in one day. */
function toBatches(times: readonly number[]): Stretch[][] {
  const sorted = times.toSorted((a, b) => a - b);
  const batches: Stretch[][] = [];
  for (let start = 0; start < sorted.length; start += BATCH) {
    const days = Map.groupBy(sorted.slice(start, start + BATCH), dayOf).values();
    batches.push(Array.from(days, (some) => ({ from: Math.min(...some), to: Math.max(...some) + 1 })));
  }
  return batches;
}

/** Returns when each transition was erased. */
async function eraseIn(
  client: Client,
  hidden: readonly string[],
  task: readonly string[],
  batch: readonly Stretch[],
  erasedAt: number,
): Promise<number[]> {
  const times: number[] = [];
  for (const { from, to } of batch) {
    const transitions: { readonly at: number; readonly id: Uint8Array }[] = [];
    for (const table of tablesOf('deliveries', hidden)) {
      const rows = z.array(ErasableRow).parse((await client.query(SQL.readErasable(table), [...task, from, to])).rows);
      const changed = rows
        .map((row) => ({ ...row, erased: `[${readAttemptsText(row.attempts).map(withoutAnswer).join(',')}]` }))
        .filter(({ attempts, erased }) => attempts !== erased);
      const given = [
        changed.map((row) => row.created_at),
        changed.map(({ id }) => id),
        changed.map((row) => row.erased),
      ];
      if (changed.length > 0) await client.query(SQL.writeAttempts(table), [from, to, ...given]);
      for (const row of rows) transitions.push({ at: row.created_at, id: row.transition_id });
    }
    for (const table of tablesOf('transitions', hidden)) {
      const given = [transitions.map(({ at }) => at), transitions.map(({ id }) => id)];
      const { rows } = await client.query(SQL.eraseTransitions(table), [from, to, ...given, erasedAt]);
      for (const row of z.array(ErasedRow).parse(rows)) times.push(row.erased_at);
    }
  }
  return times;
}
