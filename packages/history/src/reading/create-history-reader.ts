import type {
  DeliveryEvent,
  DeliveryId,
  DeliveryStatus,
  EndpointId,
  TaskId,
  TransitionId,
  WorkspaceId,
} from '@herald/core';
import { z } from 'zod';
import { toDeliveryId, toIdBytes, toTransitionId } from '../ids/id-bytes.ts';
import type { HistoryPool } from '../pool/create-history-pool.ts';
import { withDeadline, type DeadlineOptions } from '../pool/with-deadline.ts';
import { LIST_AUDIT } from '../sql/audit-sql.ts';
import * as SQL from '../sql/read-sql.ts';
import { readDeliveryRow } from './delivery-row.ts';

/** A place in a list: time of acceptance (epoch ms), and id of a delivery. */
type Place = { readonly at: number; readonly id: DeliveryId };

type Query = {
  readonly workspaceId: WorkspaceId;
  readonly endpointId?: EndpointId | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly event?: DeliveryEvent | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly after?: Place | undefined;
  readonly upTo?: Place | undefined;
  readonly limit: number;
};
type AuditQuery = {
  readonly workspaceId?: WorkspaceId | undefined;
  readonly by?: string | undefined;
  /** Epoch ms. */
  readonly since?: number | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
};
type Range = {
  readonly workspaceId: WorkspaceId;
  readonly endpointId: EndpointId;
  readonly since: number;
  readonly until: number;
};

/** Rows that a page with a filter looks at: a filter that matches nothing must come to an end. */
const LOOKED_AT_LIMIT = 10_000;
const COUNT_LIMIT = 1_000_000;
const MAX_TIME = Number.MAX_SAFE_INTEGER;
/** Behind every id of an entry of the audit trail. */
const LAST_ENTRY = '~';
const AuditRow = z.object({ entry: z.unknown() });
/** Before and behind every id. */
const [FIRST, LAST] = [Buffer.alloc(0), Buffer.alloc(21, 0xff)];

const OwnerRow = z.object({ workspace_id: z.string() });
const EdgeRow = z.object({ created_at: z.number(), id: z.instanceof(Uint8Array) });
const TransitionRow = z.object({
  body: z.string().nullable(),
  request_id: z.string().nullable(),
  traceparent: z.string().nullable(),
  endpoint_id: z.string(),
});
const PlacedRow = z.object({ transition_id: z.instanceof(Uint8Array), place: z.number() });
const CountRow = z.object({ count: z.number() });

export type HistoryReaderDeps = DeadlineOptions & { readonly pool: Pick<HistoryPool, 'query'> };

/**
 * Reads what is in history. Each throws HistoryUnavailableError when it can't be reached in time. What is over, or was
 * never there, is not found.
 */
export function createHistoryReader({ pool, ...deadline }: HistoryReaderDeps) {
  const ask = (text: string, values: readonly unknown[]): Promise<unknown[]> =>
    withDeadline(deadline, async () => (await pool.query(text, [...values])).rows as unknown[]);

  return {
    async findOwner(id: DeliveryId): Promise<WorkspaceId | undefined> {
      const [row] = await ask(SQL.FIND_OWNER, [toIdBytes(id)]);
      return row === undefined ? undefined : OwnerRow.parse(row).workspace_id;
    },
    async findOwnerOfTask(id: TaskId): Promise<WorkspaceId | undefined> {
      const [row] = await ask(SQL.FIND_OWNER_OF_TASK, [id]);
      return row === undefined ? undefined : OwnerRow.parse(row).workspace_id;
    },
    async find(workspaceId: WorkspaceId, id: DeliveryId) {
      const [row] = await ask(SQL.FIND_DELIVERY, [toIdBytes(id), workspaceId]);
      return row === undefined ? undefined : readDeliveryRow(row);
    },
    /** `body` is absent when it is erased, or isn't kept. */
    async findTransition(of: { workspaceId: WorkspaceId; transitionId: TransitionId; createdAt: number }) {
      const found = await ask(SQL.FIND_TRANSITION, [of.createdAt, toIdBytes(of.transitionId), of.workspaceId]);
      const rows = z.array(TransitionRow).parse(found);
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
    /** Newest first. With a filter it may end before the end of the list: `next` is the last place it looked at. */
    async list({ workspaceId, endpointId, status, event, since = 0, until, after, upTo, limit }: Query) {
      const kind = endpointId === undefined ? 'workspace' : 'endpoint';
      const owner = [workspaceId, endpointId ?? null];
      const from = firstPlace(after, until);
      const to = lastPlace(upTo, since);
      const isFiltered = status !== undefined || event !== undefined;
      const [edgeRow] = isFiltered ? await ask(SQL.FIND_EDGE[kind], [...owner, ...from, ...to, LOOKED_AT_LIMIT]) : [];
      const edge = edgeRow === undefined ? undefined : EdgeRow.parse(edgeRow);
      const stretch = edge ? [edge.created_at, edge.id] : to;
      const rows = await ask(SQL.LIST_DELIVERIES[kind], [
        ...owner,
        ...from,
        ...stretch,
        status ?? null,
        event ?? null,
        limit,
      ]);
      const found = rows.map(readDeliveryRow);
      const last = found.at(-1)?.delivery;
      const end = edge && { at: edge.created_at, id: toDeliveryId(edge.id) };
      const next = found.length === limit && last ? { at: last.createdAt, id: last.id } : end;
      return { found, ...(next && { next }) };
    },
    async listOldestFirst(
      { workspaceId, endpointId, since, until, after }: Range & { after?: Place | undefined },
      limit: number,
    ) {
      const behind = after ? [after.at, placeBytes(after.id)] : [since, FIRST];
      const rows = await ask(SQL.LIST_OLDEST_FIRST, [workspaceId, endpointId, ...behind, until, limit]);
      return rows.map(readDeliveryRow);
    },
    /** Entries of the audit trail as they were written, newest first. */
    async listAudit({ workspaceId, by, since = 0, before = LAST_ENTRY, limit }: AuditQuery): Promise<unknown[]> {
      const rows = await ask(LIST_AUDIT, [workspaceId ?? null, by ?? null, before, String(since), limit]);
      return rows.map((row) => AuditRow.parse(row).entry);
    },
    /** At most a million. */
    async count({ workspaceId, endpointId, since, until }: Range): Promise<number> {
      const [row] = await ask(SQL.COUNT_DELIVERIES, [workspaceId, endpointId, since, until, COUNT_LIMIT]);
      return CountRow.parse(row).count;
    },
    /** The transitions of a Task, newest first, each with its place among them. */
    async listSequences(workspaceId: WorkspaceId, taskId: TaskId, limit: number, before?: number) {
      const rows = await ask(SQL.LIST_TRANSITIONS, [workspaceId, taskId, before ?? null, limit]);
      return z
        .array(PlacedRow)
        .parse(rows)
        .map((row) => ({ sequence: row.place, transitionId: toTransitionId(row.transition_id) }));
    },
    async listOfTransitions(workspaceId: WorkspaceId, taskId: TaskId, ids: readonly TransitionId[]) {
      const rows = await ask(SQL.LIST_OF_TRANSITIONS, [workspaceId, taskId, ids.map(toIdBytes)]);
      return rows.map(readDeliveryRow);
    },
  };
}

/** The place after which a list goes on: that of a page before, or the end of the time. */
function firstPlace(after: Place | undefined, until: number | undefined): [number, Buffer] {
  const isInTime = after && (until === undefined || after.at < until);
  if (isInTime) return [after.at, placeBytes(after.id)];
  return until === undefined ? [MAX_TIME, LAST] : [until, FIRST];
}

/** The place with which it ends: how far another source has looked, or the beginning of the time. */
function lastPlace(upTo: Place | undefined, since: number): [number, Buffer] {
  return upTo && upTo.at >= since ? [upTo.at, placeBytes(upTo.id)] : [since, FIRST];
}

/** A caller's cursor may hold any text. What is no id stands before all of them. */
function placeBytes(id: string): Buffer {
  return /^dlv_[a-z2-7]{32}$/.test(id) ? toIdBytes(id) : FIRST;
}
