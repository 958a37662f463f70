import type {
  AuditQuery,
  DeliveryId,
  HistoryPage,
  HistoryQuery,
  HistoryRange,
  HistoryReader,
  ListedPast,
  ListPlace,
  PastDelivery,
  PastSequence,
  PastTransition,
  TaskId,
  TransitionId,
  TransitionOf,
  WorkspaceId,
} from '@herald/core';
import { z } from 'zod';
import { readDeliveryRow, readListedRow, toDeliveryId, toIdBytes, toTransitionId } from './delivery-row.ts';
import { withDeadline, type DeadlineOptions } from '../errors/history-errors.ts';
import { divideDays, readDays, type KnownStretch, type Order, type Stretch } from '../partitions/stretches.ts';
import { inTransaction, type HistoryPool } from '../pool/create-history-pool.ts';
import { createTurns } from '../pool/create-turns.ts';
import * as SQL from '../sql/history-sql.ts';

/** Rows that a page with a filter looks at: a filter that matches nothing must come to an end. */
const LOOKED_AT_LIMIT = 10_000;
/** Reads of one workspace at once. */
const AT_ONCE = 2;
const COUNT_LIMIT = 1_000_000;
const MAX_TIME = Number.MAX_SAFE_INTEGER;
/** Behind every id of an entry of the audit trail. */
const LAST_ENTRY = '~';
/** Of the time in such an id, ms. */
const ENTRY_DIGITS = 13;
const AuditRow = z.object({ entry: z.unknown() });
/** Before and behind every id. */
const [FIRST, LAST] = [Buffer.alloc(0), Buffer.alloc(21, 0xff)];

const IdRow = z.object({ id: z.instanceof(Uint8Array) });
const OwnerRow = z.object({ workspace_id: z.string() });
const PlaceRow = z.object({ created_at: z.number(), id: z.instanceof(Uint8Array) });
const TransitionRow = z.object({
  body: z.string().nullable(),
  request_id: z.string().nullable(),
  traceparent: z.string().nullable(),
  endpoint_id: z.string(),
});
const SequenceRow = z.object({ transition_id: z.instanceof(Uint8Array) });
const TimeRow = z.object({ created_at: z.number() });
const CountRow = z.object({ count: z.number() });

export type HistoryReaderDeps = DeadlineOptions & {
  readonly pool: Pick<HistoryPool, 'connect'>;
  /** How long a page looks for more, in ms: what it has found by then is the page. Default: a quarter of `limitMs`. */
  readonly lookMs?: number;
  /** Hears of a delivery that this release can't read, such as one with a status of a later release. It is left out. */
  readonly onUnreadable?: (id: DeliveryId, error: unknown) => void;
};

/**
 * Reads what is in history. Each throws HistoryUnavailableError when it can't be reached in time; what nobody waits for any
 * more ends in PostgreSQL, too. What is over, or was never there, is not found.
 */
export function createHistoryReader({ pool, lookMs, onUnreadable, ...deadline }: HistoryReaderDeps) {
  const take = createTurns(AT_ONCE);
  /**
   * @param owner whose turn it is: a workspace, or undefined for what is of none
   * @param work gets what makes one transaction after the other: locks end with each
   */
  const read = <T>(owner: WorkspaceId | undefined, work: (transact: Transact) => Promise<T>): Promise<T> => {
    const endsAt = performance.now() + deadline.limitMs;
    const remaining = () => Math.max(1, endsAt - performance.now());
    const transact: Transact = (ask) =>
      inTransaction(pool, { statementMs: remaining() }, (client) =>
        ask(async (text, values) => (await client.query(text, [...values])).rows as unknown[]),
      );
    return withDeadline(deadline, () => take(owner, remaining, () => work(transact)));
  };
  /**
   * Asks of one stretch of days after the other, until one has the answer, or none is left.
   * @param within the time that is asked for; more than that can't be there
   * @param isDone whether what was found is enough
   */
  const search = (
    owner: WorkspaceId | undefined,
    { from = 0, to = MAX_TIME, order = 'newest' }: Partial<Stretch> & { order?: Order },
    askOf: (ask: Ask, stretch: KnownStretch, soFar: number) => Promise<unknown[]>,
    isDone: (found: readonly unknown[]) => boolean,
  ): Promise<unknown[]> =>
    read(owner, async (transact) => {
      let stretches: KnownStretch[] | undefined;
      const found: unknown[] = [];
      const askNext = async (ask: Ask): Promise<void> => {
        if (!stretches) {
          const { isIndexed, ...days } = readDays(await ask(SQL.READ_DAYS, []));
          const asked = { from: Math.max(from, days.from), to: Math.min(to, days.to) };
          stretches = divideDays(asked, order).map((stretch) => ({ ...stretch, isIndexed }));
        }
        const stretch = stretches.shift();
        if (stretch) found.push(...(await askOf(ask, stretch, found.length)));
      };
      do await transact(askNext);
      while (stretches?.length !== 0 && !isDone(found));
      return found;
    });
  const findOne = (owner: WorkspaceId | undefined, text: string, values: readonly unknown[]) =>
    search(
      owner,
      { order: 'any' },
      (ask, { from, to }) => ask(text, [...values, from, to]),
      (found) => found.length > 0,
    );
  const readAll = <T>(rows: readonly unknown[], readRow: (row: unknown) => T): readonly T[] =>
    rows.flatMap((row) => {
      try {
        return [readRow(row)];
      } catch (error) {
        onUnreadable?.(toDeliveryId(IdRow.parse(row).id), error);
        return [];
      }
    });
  const ask = (owner: WorkspaceId | undefined, text: string, values: readonly unknown[]) =>
    read(owner, (transact) => transact((query) => query(text, values)));

  return {
    async findOwner(id: DeliveryId): Promise<WorkspaceId | undefined> {
      const [row] = await findOne(undefined, SQL.FIND_OWNER, [toIdBytes(id)]);
      return row === undefined ? undefined : OwnerRow.parse(row).workspace_id;
    },
    async findOwnerOfTask(id: TaskId): Promise<WorkspaceId | undefined> {
      const [row] = await findOne(undefined, SQL.FIND_OWNER_OF_TASK, [id]);
      return row === undefined ? undefined : OwnerRow.parse(row).workspace_id;
    },
    async find(workspaceId: WorkspaceId, id: DeliveryId): Promise<PastDelivery | undefined> {
      const values = [toIdBytes(id), workspaceId];
      const askOf = (ask: Ask, stretch: Stretch) =>
        askWhere(ask, stretch, [SQL.TIMES_OF_DELIVERY, SQL.FIND_DELIVERY], values);
      const rows = await search(workspaceId, { order: 'any' }, askOf, (found) => found.length > 0);
      return readAll(rows, readDeliveryRow)[0];
    },
    async findTransition(of: TransitionOf): Promise<PastTransition | undefined> {
      const values = [of.createdAt, toIdBytes(of.transitionId), of.workspaceId];
      const rows = z.array(TransitionRow).parse(await ask(of.workspaceId, SQL.FIND_TRANSITION, values));
      const [first] = rows;
      if (!first) return undefined;
      const { body, request_id: requestId, traceparent } = first;
      return {
        endpointIds: rows.map((row) => row.endpoint_id),
        ...(body !== null && { body }),
        ...(requestId !== null && { requestId }),
        ...(traceparent !== null && { traceparent }),
      };
    },
    /** Newest first. It may end before the end of the list: `next` is the last place it looked at. */
    async list({ workspaceId, endpointId, status, event, since = 0, until, after, upTo, limit }: HistoryQuery) {
      const isRare = status !== undefined && status !== 'delivered';
      const whose = endpointId === undefined ? 'workspace' : 'endpoint';
      const owner = [workspaceId, endpointId ?? null];
      const [start, end] = [firstPlace(after, until), lastPlace(upTo, since)];
      const isFiltered = status !== undefined || event !== undefined;
      const lookUntil = performance.now() + (lookMs ?? deadline.limitMs / 4);
      let next: HistoryPage['next'];
      const askOf = async (query: Ask, { from, to, isIndexed }: KnownStretch, soFar: number) => {
        const kind = isRare && isIndexed ? 'undelivered' : whose;
        const first = start[0] < to ? start : [to - 1, LAST];
        const last = end[0] >= from ? end : [from, FIRST];
        const bounds = [...owner, ...first];
        const most = [LOOKED_AT_LIMIT, ...(kind === 'undelivered' ? [status] : [])];
        const edges = isFiltered ? await query(SQL.FIND_EDGE[kind], [...bounds, ...last, ...most]) : [];
        const edge = edges[0] === undefined ? undefined : PlaceRow.parse(edges[0]);
        const stretch = edge ? ([edge.created_at, edge.id] as const) : last;
        const what = [status ?? null, event ?? null, limit - soFar];
        const read = async () => {
          const matching = isFiltered
            ? await query(SQL.TIMES_OF_DELIVERIES[kind], [...bounds, ...stretch, ...what])
            : [];
          if (isFiltered && matching.length === 0) return [];
          const oldest = isFiltered ? TimeRow.parse(matching.at(-1)).created_at : stretch[0];
          const until = oldest > stretch[0] ? [oldest, FIRST] : stretch;
          return await query(SQL.LIST_DELIVERIES[kind], [...bounds, ...until, ...what]);
        };
        const rows = await read();
        const reached = rows.length === limit - soFar ? PlaceRow.parse(rows.at(-1)) : edge;
        if (reached) next = { at: reached.created_at, id: toDeliveryId(reached.id) };
        else if (performance.now() > lookUntil) next = { at: from, id: '' };
        return rows;
      };
      // Nothing stands before the first place of a moment: the list goes on in the moment before.
      const range = { from: end[0], to: start[1] === FIRST ? start[0] : Math.min(start[0] + 1, MAX_TIME) };
      const found = readAll(await search(workspaceId, range, askOf, () => next !== undefined), readListedRow);
      return { found, ...(next && { next }) };
    },
    async listOldestFirst(
      { workspaceId, endpointId, since, until, after }: HistoryRange & { after?: ListPlace | undefined },
      limit: number,
    ): Promise<readonly PastDelivery[]> {
      const start = after ? ([after.at, placeBytes(after.id)] as const) : ([since, FIRST] as const);
      const askOf = (query: Ask, { from, to }: Stretch, soFar: number) => {
        const behind = start[0] >= from ? start : [from, FIRST];
        return query(SQL.LIST_OLDEST_FIRST, [workspaceId, endpointId, ...behind, to, limit - soFar]);
      };
      const range = { from: start[0], to: until, order: 'oldest' } as const;
      const rows = await search(workspaceId, range, askOf, (found) => found.length >= limit);
      return readAll(rows, readDeliveryRow);
    },
    /** Entries of the audit trail as they were written, newest first. */
    async listAudit({ workspaceId, by, since = 0, before = LAST_ENTRY, limit }: AuditQuery): Promise<unknown[]> {
      const values = [workspaceId ?? null, by ?? null, before, firstEntry(since), limit];
      return (await ask(workspaceId, SQL.LIST_AUDIT, values)).map((row) => AuditRow.parse(row).entry);
    },
    /** At most a million. */
    async count({ workspaceId, endpointId, since, until }: HistoryRange): Promise<number> {
      let total = 0;
      const askOf = async (query: Ask, { from, to }: Stretch) => {
        const values = [workspaceId, endpointId, from, to, COUNT_LIMIT - total];
        const [row] = await query(SQL.COUNT_DELIVERIES, values);
        total += CountRow.parse(row).count;
        return [];
      };
      await search(workspaceId, { from: since, to: until }, askOf, () => total >= COUNT_LIMIT);
      return total;
    },
    /** The transitions of a Task, newest first, each with its place among them. */
    async listSequences(
      workspaceId: WorkspaceId,
      taskId: TaskId,
      limit: number,
      before = Infinity,
    ): Promise<readonly PastSequence[]> {
      const askOf = (query: Ask, stretch: Stretch) =>
        askWhere(query, stretch, [SQL.TIMES_OF_TASK, SQL.LIST_TRANSITIONS], [workspaceId, taskId]);
      const rows = await search(workspaceId, { order: 'oldest' }, askOf, () => false);
      return z
        .array(SequenceRow)
        .parse(rows)
        .map((row, index) => ({ sequence: index + 1, transitionId: toTransitionId(row.transition_id) }))
        .filter(({ sequence }) => sequence < before)
        .slice(-limit)
        .reverse();
    },
    async listOfTransitions(
      workspaceId: WorkspaceId,
      taskId: TaskId,
      ids: readonly TransitionId[],
    ): Promise<readonly ListedPast[]> {
      const askOf = (query: Ask, stretch: Stretch) =>
        askWhere(
          query,
          stretch,
          [SQL.TIMES_OF_TASK, SQL.LIST_OF_TRANSITIONS],
          [workspaceId, taskId],
          [ids.map(toIdBytes)],
        );
      const rows = await search(workspaceId, { order: 'any' }, askOf, () => false);
      const found = readAll(rows, readListedRow);
      return found.toSorted((a, b) => (a.delivery.id < b.delivery.id ? 1 : -1));
    },
  } satisfies HistoryReader & { listAudit: unknown };
}

/**
 * Asks first when there is something, and then for it in that time alone. What reads the transitions as well costs twice as
 * much for each day.
 * @param statements for the times, and for the rows. Both get `values`, the second one `more` too, and a time at the end.
 */
async function askWhere(
  ask: Ask,
  { from, to }: Stretch,
  [times, rows]: readonly [times: string, rows: string],
  values: readonly unknown[],
  more: readonly unknown[] = [],
): Promise<unknown[]> {
  const found = (await ask(times, [...values, from, to])).map((row) => TimeRow.parse(row).created_at);
  if (found.length === 0) return [];
  return await ask(rows, [...values, ...more, Math.min(...found), Math.max(...found) + 1]);
}

/** Runs a statement. */
type Ask = (text: string, values: readonly unknown[]) => Promise<unknown[]>;
type Transact = <T>(work: (ask: Ask) => Promise<T>) => Promise<T>;

/** The place after which a list goes on: that of a page before, or the end of the time. */
function firstPlace(after: ListPlace | undefined, until: number | undefined): [number, Buffer] {
  const isInTime = after && (until === undefined || after.at < until);
  if (isInTime) return [after.at, placeBytes(after.id)];
  return until === undefined ? [MAX_TIME, LAST] : [until, FIRST];
}

/** The place with which it ends: how far another source has looked, or the beginning of the time. */
function lastPlace(upTo: ListPlace | undefined, since: number): [number, Buffer] {
  return upTo && upTo.at >= since ? [upTo.at, placeBytes(upTo.id)] : [since, FIRST];
}

/** What no id of an entry at or after a time is less than, as text. */
function firstEntry(since: number): string {
  const digits = String(Math.max(0, since)).padStart(ENTRY_DIGITS, '0');
  return digits.length > ENTRY_DIGITS ? LAST_ENTRY : digits;
}

/** A caller's cursor may hold any text. What is no id stands before all of them. */
function placeBytes(id: string): Buffer {
  return /^dlv_[a-z2-7]{32}$/.test(id) ? toIdBytes(id) : FIRST;
}
