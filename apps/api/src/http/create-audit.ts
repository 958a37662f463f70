import type { Logger } from '@herald/runtime/log';
import { toAuditLine, type AuditTrail, type NewAuditEntry } from '@herald/store/access/audit-trail';
import { addressOf, callerOf, currentRequest, stateOf } from './request-state.ts';

/** A change that the request made which is being answered. */
export type Change = Pick<NewAuditEntry, 'action'> &
  Partial<Pick<NewAuditEntry, 'target' | 'workspaceId' | 'fields' | 'reason'>>;

/** Writes down who made a change. Call it after the change and before it is answered. */
export type Audit = (change: Change) => Promise<void>;

/**
 * One line in the log and one entry of the audit trail for a change. A process that dies before leaves a change without
 * an entry, and its caller without an answer. When the trail can't be written the line still says it, and the caller
 * gets a 503: nobody is told that a change is done which the trail doesn't have.
 */
export function createAudit(trail: Pick<AuditTrail, 'add'>, logger: Logger): Audit {
  return async function audit(change) {
    const request = currentRequest();
    if (!request) throw new Error('only requests make changes here');
    const { by, user, workspaceId = change.workspaceId } = callerOf(request);
    const { requestId } = stateOf(request);
    const entry: NewAuditEntry = {
      by,
      ...(user !== undefined && { user }),
      ...change,
      ...(workspaceId !== undefined && { workspaceId }),
      address: addressOf(request),
      ...(requestId !== undefined && { requestId }),
    };
    logger.info('audit.entry', toAuditLine(entry));
    await trail.add(entry);
  };
}
