import { hash } from 'node:crypto';
import { toBase32 } from '../ids/base32.ts';
import { isCallbackId, type EndpointId, type WorkspaceId } from '../ids/ids.ts';

/** 80 bits that name (controller workspace, URL origin). */
export type OriginId = string;

const DIGEST_BYTES = 10;

/** The same for urls of one workspace that have one origin. Those of two workspaces never share one. */
export function originOf(workspaceId: WorkspaceId, url: string): OriginId {
  return toBase32(hash('sha256', `${workspaceId} ${new URL(url).origin}`, 'buffer').subarray(0, DIGEST_BYTES));
}

/**
 * The group of the queue in which deliveries to an endpoint wait, with a limit, a breaker, a pause and a rate of its own.
 * A receiver is a group. The callbacks of a workspace to one origin are one: there may be as many as Tasks.
 * @param origin of the endpoint's url
 */
export function groupOf(id: EndpointId, origin: OriginId): string {
  return isCallbackId(id) ? origin : id;
}
