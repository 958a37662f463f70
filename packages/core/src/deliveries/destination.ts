import { hash } from 'node:crypto';
import { toBase32 } from '../ids/base32.ts';
import type { WorkspaceId } from '../ids/ids.ts';

/** 80 bits that name (controller workspace, URL origin). It has a group in the queue, a limit and a breaker. */
export type DestinationId = string;

const DIGEST_BYTES = 10;

/** Endpoints of one workspace that lead to one origin share a destination. Those of two workspaces never do. */
export function destinationOf(workspaceId: WorkspaceId, url: string): DestinationId {
  return toBase32(hash('sha256', `${workspaceId} ${new URL(url).origin}`, 'buffer').subarray(0, DIGEST_BYTES));
}
