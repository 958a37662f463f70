import type { ClientBase } from 'pg';
import { DayGoingError, HistoryRefusal } from '../errors/history-errors.ts';
import { inTransaction, withClient, type Asking, type HistoryPool } from '../pool/create-history-pool.ts';
import * as SQL from '../sql/history-sql.ts';

export const DAY_MS = 86_400_000;

export type HistoryTable = 'deliveries' | 'transitions';
/** Transitions are dropped first: an erasure finds a body by its deliveries, so that no body may outlive them. */
const HISTORY_TABLES: readonly HistoryTable[] = ['transitions', 'deliveries'];

/** The table of a day. `going`: its detaching has begun, and it can't be read through the whole table any more. */
export type DayTable = {
  readonly name: string;
  readonly table: HistoryTable;
  /** Whole days of UTC since 1970. */
  readonly day: number;
  readonly state: 'attached' | 'going' | 'detached';
};

/** In which order they are dropped: PostgreSQL begins no detaching in a table beside one that was cut off. */
const RANKS = { detached: 0, going: 1, attached: 2 };

/** Days that are made ahead: PostgreSQL may refuse new tables for so long before anything waits. */
const DAYS_AHEAD = 3;
const STATEMENT_LIMIT_MS = 20_000;
/** How long it is waited for who reads a day, in ms. It is dropped in another round then. */
const READERS_LIMIT_MS = 2_000;
/** A round of dropping may wait for many readers, one after the other, in ms. */
const ROUND_LIMIT_MS = 600_000;

/** Days that a round makes the index of: with rows by the million, each may take a second. */
const INDEXED_AT_ONCE = 50;

const CLOCKS =
  'the times of Redis and of PostgreSQL differ by more than a day, so that no day is dropped; set their clocks';

/** Whole days of UTC since 1970. */
export const dayOf = (timeMs: number): number => Math.floor(timeMs / DAY_MS);

/** Such as `deliveries_20261123`. */
export function partitionName(table: HistoryTable, day: number): string {
  return `${table}_${new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

/** When a day such as 20261123 begins, epoch ms. */
export const startOf = (day: string): number => Date.parse(day.replace(/(....)(..)(..)/, '$1-$2-$3'));

/** Every table of a day, the oldest of each kind first. */
export async function listDayTables(client: Asking): Promise<readonly DayTable[]> {
  const { rows } = await client.query(SQL.LIST_DAY_TABLES);
  return (rows as Pick<DayTable, 'name' | 'state'>[]).flatMap(({ name, state }) => {
    const table = HISTORY_TABLES.find((each) => name.startsWith(`${each}_`));
    const day = startOf(name.slice(-8)) / DAY_MS;
    return table === undefined || Number.isNaN(day) ? [] : [{ name, table, day, state }];
  });
}

/** `dropped`: names of tables that are gone. `failures`: why others are still there. */
export type DropReport = { readonly dropped: readonly string[]; readonly failures: readonly unknown[] };

/** Makes and drops the partitions of days. */
export function createPartitions(pool: HistoryPool, { readersLimitMs = READERS_LIMIT_MS } = {}) {
  const known = new Set<number>();

  /** Makes those of these days that are missing, in the transaction of `client`. Returns them. */
  const makeIn = async (client: ClientBase, days: readonly number[]): Promise<readonly number[]> => {
    const unknown = [...new Set(days)].filter((day) => !known.has(day));
    if (unknown.length === 0) return [];
    await client.query(SQL.LOCK_FOR_PARTITIONS);
    const present = new Map((await listDayTables(client)).map(({ name, state }) => [name, state]));
    for (const day of unknown) {
      for (const table of HISTORY_TABLES) {
        const name = partitionName(table, day);
        const state = present.get(name);
        if (state === 'attached') continue;
        if (state !== undefined) throw new DayGoingError(name, state);
        await client.query(SQL.createPartition(table, name, day * DAY_MS, (day + 1) * DAY_MS));
      }
    }
    return unknown;
  };
  const note = (days: readonly number[]): void => {
    for (const day of days) known.add(day);
  };

  /** Makes those of these days that are missing. */
  const ensure = async (days: readonly number[]): Promise<void> => {
    note(await inTransaction(pool, { statementMs: STATEMENT_LIMIT_MS }, (client) => makeIn(client, days)));
  };

  /** Once nobody erases, reads or writes it. */
  const drop = ({ table, name, state }: DayTable) =>
    inTransaction(pool, { statementMs: STATEMENT_LIMIT_MS, lockMs: readersLimitMs }, async (client) => {
      await client.query(SQL.LOCK_FOR_MOVING);
      if (state === 'going') await client.query(SQL.finishDetaching(table, name));
      await client.query(SQL.dropTable(name));
    });

  /**
   * Cut off by its limit, it stays half done: the table is `going`. It can't be part of a transaction, and what a session
   * sets would stay in the connection of a pooler, for whoever shares it. So another connection cuts it off.
   */
  const detach = ({ table, name }: DayTable) =>
    withClient(pool, false, async (client) => {
      const text = SQL.detachPartition(table, name);
      const cutOff = setTimeout(() => {
        // Without an answer it goes on: it waits for its readers, and keeps nobody waiting.
        void pool.query(SQL.CANCEL_STATEMENT, [text]).catch(() => undefined);
      }, readersLimitMs);
      try {
        await client.query(text);
      } finally {
        clearTimeout(cutOff);
      }
    });

  const dropAll = async (oldest: number): Promise<DropReport> => {
    const dropped: string[] = [];
    const failures: unknown[] = [];
    const end = async (each: DayTable): Promise<boolean> => {
      known.delete(each.day);
      try {
        if (each.state === 'attached') await detach(each);
        await drop(each);
        return dropped.push(each.name) > 0;
      } catch (error) {
        failures.push(error);
        return false;
      }
    };
    const all = await listDayTables(pool);
    // What has begun to be dropped can't be read, however old it is.
    const begun = all.filter(({ state }) => state === 'going').map(({ day }) => day);
    const ending = all.filter(({ day }) => day < oldest || begun.includes(day));
    for (const table of HISTORY_TABLES) {
      const others = ending.filter((each) => each.table !== table && !dropped.includes(each.name));
      const isFree = ({ day }: DayTable) => table === 'transitions' || !others.some((each) => each.day === day);
      const tables = ending.filter((each) => each.table === table && isFree(each));
      for (const each of tables.sort((a, b) => RANKS[a.state] - RANKS[b.state])) {
        // While the detaching of one waits for its readers, that of another can't begin.
        if (!(await end(each)) && each.state !== 'detached') break;
      }
    }
    return { dropped, failures };
  };

  return {
    makeIn,
    /** Days that `makeIn` has made, once its transaction is committed. */
    note,
    ensure,
    /** Takes nothing for known any more. */
    lookAgain: () => {
      known.clear();
    },
    ensureAhead: (nowMs: number) => ensure(Array.from({ length: DAYS_AHEAD + 1 }, (_, index) => dayOf(nowMs) + index)),
    /**
     * Drops every day that ended before then. Whoever reads one delays it, and no reader or writer waits for it. What
     * failed is tried again by the next call. It does nothing while another process is at it.
     */
    dropBefore: (timeMs: number): Promise<DropReport> =>
      inTransaction(pool, { statementMs: STATEMENT_LIMIT_MS, idleMs: ROUND_LIMIT_MS }, async (client) => {
        const { rows } = await client.query<{ mine: boolean }>(SQL.TRY_LOCK_FOR_TENDING);
        if (!rows[0]?.mine) return { dropped: [], failures: [] };
        return await dropAll(dayOf(timeMs));
      }),
    /**
     * Makes the index of days that are older than it. Nobody who reads waits for it, and who writes into a day as long as it
     * takes; whoever has written there and hasn't committed delays it. It does nothing while another process is at it.
     * @returns how many days have it now
     */
    indexDays: (): Promise<number> =>
      inTransaction(pool, { statementMs: STATEMENT_LIMIT_MS, idleMs: ROUND_LIMIT_MS }, async (client) => {
        const { rows } = await client.query<{ mine: boolean }>(SQL.TRY_LOCK_FOR_TENDING);
        if (!rows[0]?.mine) return 0;
        const days = await client.query<{ name: string }>(SQL.LIST_UNINDEXED_DAYS, [INDEXED_AT_ONCE]);
        for (const { name } of days.rows) {
          const limits = { statementMs: STATEMENT_LIMIT_MS, lockMs: readersLimitMs };
          await inTransaction(pool, limits, (each) => each.query(SQL.indexDay(name)));
        }
        return days.rows.length;
      }),
    /**
     * How long days are kept, in ms: as long as is wished, unless that is less than half of before. `setRetention` is the
     * word that it needs then.
     * @throws HistoryRefusal when the time of Redis (`nowMs`) and that of PostgreSQL differ by more than a day
     */
    agreeOnRetention: (wishedMs: number, nowMs: number): Promise<number> =>
      inTransaction(pool, { statementMs: STATEMENT_LIMIT_MS }, async (client) => {
        await client.query(SQL.AGREE_ON_RETENTION, [wishedMs]);
        type Agreed = { retention_ms: number | null; now_ms: number };
        const { rows } = await client.query<Agreed>(SQL.READ_RETENTION);
        const { retention_ms: agreedMs, now_ms: theirNowMs = nowMs } = rows[0] ?? {};
        if (Math.abs(theirNowMs - nowMs) > DAY_MS) throw new HistoryRefusal(CLOCKS);
        return Math.max(wishedMs, agreedMs ?? 0);
      }),
    setRetention: async (retentionMs: number): Promise<void> => {
      await pool.query(SQL.SET_RETENTION, [retentionMs]);
    },
    /** For how long the oldest day that should be gone has been over, in ms; 0: there is none. */
    async findOverdueMs(timeMs: number): Promise<number> {
      const days = (await listDayTables(pool)).map(({ day }) => day);
      const oldest = Math.min(...days);
      return oldest < dayOf(timeMs) ? timeMs - (oldest + 1) * DAY_MS : 0;
    },
  };
}
export type Partitions = ReturnType<typeof createPartitions>;
