import type { Logger } from '@herald/runtime/log/logger';
import type { PortalLink } from '@herald/store/portal-links/portal-link-store';
import type { Request } from 'express';
import { pathForLog } from '../http/path-for-log.ts';
import { HttpFault } from '../http/problem.ts';
import { createFindOperation } from './find-operation.ts';
import type { Operation, RouteTable } from './operation.ts';

/** Whether portal links may use an operation. */
export function isForPortalLinks(
  operation: Pick<Operation<never>, 'forPortalLinks'>,
  table: Pick<RouteTable<never>, 'forPortalLinks'>,
): boolean {
  return table.forPortalLinks === true || operation.forPortalLinks === true;
}

/**
 * Refuses a portal link what it may not use, and logs what an operator changes with one. A request for no operation
 * passes: the router answers it. Call it at the path of the table.
 */
export function createPortalLinkJudge<Deps>(table: RouteTable<Deps>, logger: Logger) {
  const findOperation = createFindOperation(table.operations);
  return function judgePortalLink(req: Request, { id: portalLinkId, readOnly, operator, workspaceId }: PortalLink) {
    const operation = findOperation(req);
    if (!operation) return;
    if (!isForPortalLinks(operation, table)) {
      throw new HttpFault('insufficient_scope', 'a portal link may not do this; use an API key');
    }
    if (operation.method === 'get') return;
    if (readOnly) {
      throw new HttpFault('insufficient_scope', 'this portal link is read-only; ask for one that may change things');
    }
    if (operator === undefined) return;
    const path = pathForLog(req.originalUrl);
    logger.info('operator.acted', { action: operation.id, operator, workspaceId, portalLinkId, path });
  };
}
