import type { AuditTrail } from '@herald/store/audit/audit-trail';
import type { createGroupView } from '@herald/store/operators/group-view';
import type { createFailedView } from '@herald/store/operators/failed-view';
import type { Search } from '@herald/store/operators/search';
import { readCursor, writeCursor } from '../../http/cursor.ts';
import { readAuditCursor, toAuditPage, type AuditPage, type ListAudit } from './audit-rows.ts';
import { toWaitingRow, type WaitingReceiverList } from './waiting-rows.ts';
import { toFailedRow, type FailedPage } from './failed-rows.ts';
import type { SearchResults } from './search-view.ts';

export type OperatorReadsDeps = {
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
      const at = now();
      // The place in the list. Failures in between move it, and show some again.
      const start = readCursor(cursor)?.at ?? 0;
      const [page, count] = await Promise.all([failed.list(at, start, start + limit - 1), failed.count(at)]);
      const next = start + limit;
      return { deliveries: page.map(toFailedRow), nextCursor: next < count ? writeCursor({ at: next, id: '' }) : null };
    },
  };
}
export type OperatorReads = ReturnType<typeof createOperatorReads>;
