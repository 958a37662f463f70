import { CursorText, PageLimit, refuseBoth, Time, ValidationError, WorkspaceIdText } from '@herald/core';
import { DOER, isAuditId, type AuditEntry, type AuditPage as PageOfTrail } from '@herald/store/audit/audit-trail';
import { z } from 'zod';
import { NextCursor } from '../../http/cursor.ts';
import { TimeText, toTime } from '../../http/to-time.ts';

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

export function toAuditPage({ entries, next, isPartial }: PageOfTrail): AuditPage {
  return {
    entries: entries.map(toRow),
    nextCursor: next === undefined ? null : Buffer.from(next).toString('base64url'),
    ...(isPartial && { historyUnavailable: true }),
  };
}

/** @throws ValidationError if the text comes from no page */
export function readAuditCursor(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const id = Buffer.from(text, 'base64url').toString();
  if (isAuditId(id)) return id;
  throw new ValidationError([{ path: 'cursor', message: 'must be the nextCursor of an earlier page' }]);
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
