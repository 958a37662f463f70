import { PreconditionFailedError, type EndpointId } from '@herald/core';
import type { Request } from 'express';

/** The `ETag` of what has this version. */
export function etagOf({ version }: { readonly version: string }): string {
  return `"${version}"`;
}

/**
 * The version that `If-Match` demands of a receiver; undefined: any. A proxy that compresses may have weakened the tag,
 * which stands for the settings all the same.
 * @throws PreconditionFailedError when it has another one now
 */
export function demandedVersion(req: Request, id: EndpointId, found: { readonly version: string }): string | undefined {
  const ifMatch = req.get('if-match')?.trim();
  if (ifMatch === undefined || ifMatch === '*') return undefined;
  const tags = ifMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (!tags.includes(etagOf(found))) throw new PreconditionFailedError(id);
  return found.version;
}

/** What has no `ETag` can match none (RFC 9110, 13.1.1). A condition that is passed over would protect nobody. */
export function refuseIfMatch(req: Request): void {
  const ifMatch = req.get('if-match');
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  throw new PreconditionFailedError();
}
