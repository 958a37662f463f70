import type { Logger } from '@herald/runtime/log/logger';
import type { RequestHandler } from 'express';
import { pathForLog } from '../http/path-for-log.ts';
import { HttpFault } from '../http/problem.ts';
import { apiKeyOf } from '../http/request-state.ts';
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
 * passes: the router answers it. It must come after authentication; mount it at the path of the table.
 */
export function createPortalLinkJudge<Deps>(table: RouteTable<Deps>, logger: Logger): RequestHandler {
  const findOperation = createFindOperation(table.operations);
  return (req, _res, next) => {
    const { portalLink } = apiKeyOf(req);
    const operation = portalLink && findOperation(req);
    if (operation) {
      if (!isForPortalLinks(operation, table)) {
        throw new HttpFault('insufficient_scope', 'a portal link may not do this; use an API key');
      }
      const changes = operation.method !== 'get';
      if (changes && portalLink.readOnly) {
        throw new HttpFault('insufficient_scope', 'this portal link is read-only; ask for one that may change things');
      }
      if (changes && portalLink.operator !== undefined) {
        const { id: portalLinkId, operator, workspaceId } = portalLink;
        const path = pathForLog(req.originalUrl);
        logger.info('operator.acted', { action: operation.id, operator, workspaceId, portalLinkId, path });
      }
    }
    next();
  };
}
