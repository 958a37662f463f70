import { hash } from 'node:crypto';
import { toBase32 } from '../ids/base32.ts';
import type { WorkspaceId } from '../ids/ids.ts';

/** 80 bits that name (controller workspace, URL origin): what a queue, a concurrency limit and a breaker are kept for. */
export type DestinationId = string;

const DIGEST_BYTES = 10;

/** Many endpoints of a workspace may lead to one origin, and then share its fate; another workspace's never do. */
export function destinationOf(workspaceId: WorkspaceId, url: string): DestinationId {
  return toBase32(hash('sha256', `${workspaceId} ${new URL(url).origin}`, 'buffer').subarray(0, DIGEST_BYTES));
}
