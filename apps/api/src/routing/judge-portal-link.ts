import type { Operation, RouteTable } from './operation.ts';

/** Whether portal links may use an operation. */
export function isForPortalLinks(
  operation: Pick<Operation<never>, 'forPortalLinks'>,
  table: Pick<RouteTable<never>, 'forPortalLinks'>,
): boolean {
  return table.forPortalLinks === true || operation.forPortalLinks === true;
}
