import {
  CallbackIdText,
  CursorText,
  DELIVERY_REASONS,
  DeliveryEvent,
  DeliveryIdText,
  ID_PATTERNS,
  isCallbackId,
  isCodeOf,
  PageLimit,
  ReceiverIdText,
  refuseBoth,
  TaskIdText,
  Time,
  WorkspaceIdText,
} from '@herald/core';
import {
  type AuditEntry,
  type AuditPage as PageOfTrail,
  type AuditTrail,
  DOER,
  isAuditId,
} from '@herald/store/access/audit-trail';
import { workspaceOfOwner } from '@herald/store/keys/keys';
import type {
  DeliveryDescription,
  createFailedView,
  createGroupView,
  GroupDescription,
} from '@herald/store/operators/describe-delivery';
import type { Search } from '@herald/store/operators/search';
import { z } from 'zod';
import { DeliveryReasonCode, LastAttempt, toLastAttempt } from '../deliveries/delivery-view.ts';
import { badCursor, NextCursor, readCursor, TimeText, toTime, writeCursor } from '../http/answer-fields.ts';

type OperatorReadsDeps = {
  readonly groups: ReturnType<typeof createGroupView>;
  readonly failed: ReturnType<typeof createFailedView>;
  readonly search: Search;
  readonly trail: Pick<AuditTrail, 'list'>;
  /** Epoch ms. */
  readonly now: () => number;
};

/** What operators look up. */
export function createOperatorReads({ groups, failed, search, trail, now }: OperatorReadsDeps) {
  return {
    async search(text: string): Promise<SearchResults> {
      const { found, isComplete } = await search.find(text);
      return { results: [...found], complete: isComplete };
    },
    async listAudit({ workspaceId, workspace, by, since, limit, cursor }: ListAudit): Promise<AuditPage> {
      const about = workspaceId ?? workspace;
      return toAuditPage(await trail.list({ workspaceId: about, by, since, before: readAuditCursor(cursor), limit }));
    },
    async listWaiting(limit: number, find = ''): Promise<WaitingReceiverList['receivers']> {
      const at = now();
      const rows = (await groups.list()).map((group) => toWaitingRow(group, at));
      const part = find.toLowerCase();
      const isWanted = (text: string | null) => text?.toLowerCase().includes(part) === true;
      return rows
        .filter(({ group, host, workspaceId }) => part === '' || [group, host, workspaceId].some(isWanted))
        .slice(0, limit);
    },
    async listFailed(limit: number, cursor?: string): Promise<FailedPage> {
      const after = readCursor(cursor);
      // One without an id is of a former version: a rank, which says nothing once others have left.
      if (after && !ID_PATTERNS.delivery.test(after.id)) throw badCursor();
      const { deliveries, next } = await failed.list(now(), limit, after);
      return { deliveries: deliveries.map(toFailedRow), nextCursor: next ? writeCursor(next) : null };
    },
  };
}
export type OperatorReads = ReturnType<typeof createOperatorReads>;

/** What operators look for: an id, or a part of a host. */
const SearchText = z
  .string()
  .min(1)
  .max(256)
  .meta({ description: 'An id, or a part of a host or of a workspace.', examples: ['hooks.example.com'] });

/** Query of the receivers with waiting deliveries. */
export const ListWaitingReceivers = z.strictObject({ limit: PageLimit, find: SearchText.exactOptional() });

const Count = z.int().min(0);

/** A receiver with waiting deliveries, or callbacks. */
const WaitingReceiverRow = z
  .strictObject({
    group: z.string().meta({ description: 'Its name in the queue: of a receiver, its id.' }),
    kind: z
      .enum(['receiver', 'callbacks', 'notices'])
      .meta({ description: '`callbacks`: those of a workspace to one origin.' }),
    workspaceId: z.string().nullable().meta({ description: 'Null when nothing tells.' }),
    host: z.string().nullable(),
    limit: z
      .int()
      .min(1)
      .meta({ description: 'Deliveries that may be in work. Absent: as configured.' })
      .exactOptional(),
    inWork: Count,
    waiting: Count.meta({ description: 'Waiting deliveries, due or not.' }),
    due: Count,
    stopped: z.literal(true).meta({ description: 'An operator has paused it. Absent: not.' }).exactOptional(),
    breaker: z.enum(['closed', 'open']),
    nextProbeAt: TimeText.exactOptional(),
    pausedUntil: TimeText.exactOptional(),
    suspectUntil: TimeText.exactOptional(),
    unanswered: Count.meta({ description: 'Attempts without an answer, in a row.' }),
    sentPerSecond: z
      .number()
      .min(0)
      .meta({ description: 'Attempts, in the last minute or two. Absent: nothing counts them.' })
      .exactOptional(),
    emptyInMs: Count.meta({
      description: 'When what is due will be sent at this rate, if no more comes. Absent: nothing goes.',
    }).exactOptional(),
    first: z.strictObject({ id: DeliveryIdText, dueAt: TimeText }).exactOptional(),
    why: z.string().meta({ description: 'What keeps its deliveries waiting, as a sentence.' }),
  })
  .meta({
    id: 'WaitingReceiver',
    description: 'A receiver, or the callbacks of a workspace to one origin: what waits for it, and why.',
  });

export const WaitingReceiverList = z
  .strictObject({ receivers: z.array(WaitingReceiverRow) })
  .meta({ id: 'WaitingReceiverList' });
export type WaitingReceiverList = z.infer<typeof WaitingReceiverList>;

/** @param now epoch ms */
export function toWaitingRow(found: GroupDescription, now: number): WaitingReceiverList['receivers'][number] {
  const { group, kind, waiting, due, inWork, isOpen, unanswered, nextProbeAt, heldUntil, suspectUntil } = found;
  const { first, delivery, limit, isStopped, sentPerSecond, emptyInMs } = found;
  return {
    group,
    kind,
    workspaceId: delivery ? workspaceOfOwner(delivery.delivery.workspaceId) : null,
    host: delivery?.host ?? null,
    ...(limit !== undefined && { limit }),
    inWork,
    waiting,
    due,
    ...(isStopped && { stopped: true as const }),
    breaker: isOpen ? 'open' : 'closed',
    ...(nextProbeAt !== undefined && { nextProbeAt: toTime(nextProbeAt) }),
    ...(heldUntil !== undefined && { pausedUntil: toTime(heldUntil) }),
    ...(suspectUntil !== undefined && { suspectUntil: toTime(suspectUntil) }),
    unanswered,
    ...(sentPerSecond !== undefined && { sentPerSecond }),
    ...(emptyInMs !== undefined && { emptyInMs }),
    ...(first && { first: { id: first.id, dueAt: toTime(first.dueAt) } }),
    why: explainWait(found, now),
  };
}

function explainWait(
  { isStopped, isOpen, unanswered, heldUntil, suspectUntil, due, inWork, waitingForRate }: GroupDescription,
  now: number,
): string {
  if (isStopped) return 'An operator has paused it: nothing goes until it is resumed.';
  if (isOpen) {
    return `It gave no answer ${unanswered} times in a row: one probe at a time goes out until one succeeds.`;
  }
  if (heldUntil !== undefined && heldUntil > now) return 'It asked to be left alone for a while (Retry-After).';
  if (due === 0) return 'Nothing is due yet.';
  if (waitingForRate !== undefined) return 'It gets no more a second than its rate limit says.';
  if (suspectUntil !== undefined && suspectUntil > now) {
    return 'It gave no answer lately, or is slow: it gets few slots at a time.';
  }
  if (inWork > 0) return 'Others of it are being sent: the rest waits for its next free slot.';
  return 'It waits for a free worker.';
}

/** Query of the failed deliveries. */
export const ListFailed = z.strictObject({ limit: PageLimit, cursor: CursorText.exactOptional() });

const FailedRow = z
  .strictObject({
    id: DeliveryIdText,
    workspaceId: z.string(),
    receiverId: ReceiverIdText.nullable().meta({ description: 'Null: it goes to a callback, or is a notice.' }),
    callbackId: CallbackIdText.nullable().meta({ description: 'Null: it goes to a receiver, or is a notice.' }),
    endpointId: z.string().meta({ deprecated: true, description: 'The former name of both; `platform` of a notice.' }),
    host: z.string().nullable().meta({ description: 'Null when the endpoint was removed.' }),
    event: DeliveryEvent,
    taskId: TaskIdText.nullable(),
    createdAt: TimeText,
    failedAt: TimeText.nullable(),
    tries: z.int().min(0),
    reason: DeliveryReasonCode.exactOptional(),
    lastAttempt: LastAttempt.nullable(),
  })
  .meta({ id: 'FailedDelivery' });

export const FailedPage = z
  .strictObject({ deliveries: z.array(FailedRow), nextCursor: NextCursor })
  .meta({ id: 'FailedPage' });
export type FailedPage = z.infer<typeof FailedPage>;

function toFailedRow({ delivery, host, lastAttempt }: DeliveryDescription): FailedPage['deliveries'][number] {
  const { id, workspaceId, endpointId, event, taskId, createdAt, settledAt, tries, reason } = delivery;
  return {
    id,
    workspaceId: workspaceOfOwner(workspaceId),
    receiverId: ID_PATTERNS.receiver.test(endpointId) ? endpointId : null,
    callbackId: isCallbackId(endpointId) ? endpointId : null,
    endpointId,
    host: host ?? null,
    event,
    taskId: taskId ?? null,
    createdAt: toTime(createdAt),
    failedAt: settledAt === undefined ? null : toTime(settledAt),
    tries,
    ...(isCodeOf(DELIVERY_REASONS, reason) && { reason }),
    lastAttempt: lastAttempt ? toLastAttempt(lastAttempt) : null,
  };
}

/** Query of the audit trail. */
export const ListAudit = z
  .strictObject({
    workspaceId: WorkspaceIdText.meta({ description: 'What was done to this workspace.' }).exactOptional(),
    workspace: WorkspaceIdText.meta({
      deprecated: true,
      description: 'The former name of `workspaceId`.',
    }).exactOptional(),
    by: z
      .string()
      .regex(DOER, 'must be the id of a key (key_…) or of a portal link (plk_…), operator, or cli')
      .meta({ description: 'What this one did: `key_…`, `plk_…`, `operator` or `cli`.', examples: ['operator'] })
      .exactOptional(),
    since: Time.meta({ description: 'Done at or after this time.' }).exactOptional(),
    limit: PageLimit,
    cursor: CursorText.exactOptional(),
  })
  .superRefine(refuseBoth('workspace', 'workspaceId'));
export type ListAudit = z.infer<typeof ListAudit>;

const AuditRow = z
  .strictObject({
    id: z.string().meta({ examples: ['1893456000000-123456789012345'] }),
    at: TimeText,
    by: z.string().meta({ description: '`key_…`, `plk_…` (a portal link), `operator` or `cli`.' }),
    user: z.string().nullable().meta({
      description:
        'The name of the operator, also of one who made the portal link; of `cli` the user of the system; `platform` of a platform key.',
    }),
    action: z.string().meta({ description: 'The id of an operation, such as `changeReceiver`, or a name like it.' }),
    target: z.string().nullable().meta({ description: 'What was changed, mostly its id.' }),
    workspaceId: z.string().nullable().meta({ description: 'Null when it was nothing of one workspace.' }),
    fields: z.array(z.string()).nullable().meta({ description: 'The fields that were given, without their values.' }),
    reason: z.string().nullable(),
    address: z.string().nullable().meta({ description: 'Where the request came from.' }),
    requestId: z.string().nullable(),
  })
  .meta({ id: 'AuditEntry' });

export const AuditPage = z
  .strictObject({
    entries: z.array(AuditRow),
    nextCursor: NextCursor,
    historyUnavailable: z
      .literal(true)
      .exactOptional()
      .meta({ description: 'The history cannot be reached, so that older entries may be missing.' }),
  })
  .meta({ id: 'AuditPage' });
export type AuditPage = z.infer<typeof AuditPage>;

function toAuditPage({ entries, next, isPartial }: PageOfTrail): AuditPage {
  return {
    entries: entries.map(toRow),
    nextCursor: next === undefined ? null : Buffer.from(next).toString('base64url'),
    ...(isPartial && { historyUnavailable: true }),
  };
}

/** @throws ValidationError if the text comes from no page */
function readAuditCursor(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const id = Buffer.from(text, 'base64url').toString();
  if (isAuditId(id)) return id;
  throw badCursor();
}

function toRow({ id, at, by, user, action, target, workspaceId, fields, reason, address, requestId }: AuditEntry) {
  return {
    id,
    at: toTime(at),
    by,
    user: user ?? null,
    action,
    target: target ?? null,
    workspaceId: workspaceId ?? null,
    fields: fields ? [...fields] : null,
    reason: reason ?? null,
    address: address ?? null,
    requestId: requestId ?? null,
  };
}

/** Query of the search. */
export const SearchFor = z.strictObject({ q: SearchText });

export const SearchResults = z
  .strictObject({
    results: z.array(
      z.strictObject({
        kind: z.enum(['workspace', 'receiver', 'delivery', 'task', 'host']),
        id: z.string(),
        workspaceId: z.string(),
        label: z.string(),
      }),
    ),
    complete: z.boolean().meta({ description: 'False: there may be more. Ask for more of the name, or for an id.' }),
  })
  .meta({ id: 'SearchResults' });
export type SearchResults = z.infer<typeof SearchResults>;
