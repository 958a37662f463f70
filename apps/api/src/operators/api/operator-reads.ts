import type { AuditTrail } from '@herald/store/audit/audit-trail';
import type { createDestinationView } from '@herald/store/operators/destination-view';
import type { createFailedView } from '@herald/store/operators/failed-view';
import type { Search } from '@herald/store/operators/search';
import { readCursor, writeCursor } from '../../http/cursor.ts';
import { readAuditCursor, toAuditPage, type AuditPage, type ListAudit } from './audit-rows.ts';
import { toDestinationRow, type DestinationList } from './destination-rows.ts';
import { toFailedRow, type FailedPage } from './failed-rows.ts';
import type { SearchResults } from './search-view.ts';

export type OperatorReadsDeps = {
  readonly destinations: ReturnType<typeof createDestinationView>;
  readonly failed: ReturnType<typeof createFailedView>;
  readonly search: Search;
  readonly trail: Pick<AuditTrail, 'list'>;
  /** Epoch ms. */
  readonly now: () => number;
};

/** What operators look up. */
export function createOperatorReads({ destinations, failed, search, trail, now }: OperatorReadsDeps) {
  return {
    async search(text: string): Promise<SearchResults> {
      const { found, isComplete } = await search.find(text);
      return { results: [...found], complete: isComplete };
    },
    async listAudit({ workspace: workspaceId, by, since, limit, cursor }: ListAudit): Promise<AuditPage> {
      return toAuditPage(await trail.list({ workspaceId, by, since, before: readAuditCursor(cursor), limit }));
    },
    async listDestinations(limit: number, find = ''): Promise<DestinationList['destinations']> {
      const at = now();
      const rows = (await destinations.list()).map((destination) => toDestinationRow(destination, at));
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
