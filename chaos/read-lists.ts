import { waitFor } from '@herald/test-kit';
import type { ChaosWorkspace } from './found-workspaces.ts';
import type { Insist } from './patient-client.ts';
import { walkList, type Walk } from './walk-list.ts';

/** A list as it is in the end, read whole. */
export type ReadList = {
  /** As a sentence has it. */
  readonly name: string;
  readonly workspaceId: string;
  /** Absent: that of the whole workspace. */
  readonly endpointId?: string;
  readonly walk: Walk;
};

/** The largest pages, and such that end in other places. */
const LIMITS = [100, 23];
/** Connections that died in silence are found one by one, by requests that wait for them, in ms. */
const DEADLINE_MS = 60_000;

/** Every list of deliveries, in pages of several sizes. */
export async function readLists(insist: Insist, workspaces: readonly ChaosWorkspace[]): Promise<ReadList[]> {
  const lists: ReadList[] = [];
  for (const { client, receivers } of workspaces) {
    const { key, id: workspaceId } = client;
    const existing = receivers.filter(({ exists }) => exists.latest());
    for (const limit of LIMITS) {
      const read = async (path: string) =>
        await waitFor(
          `the whole list of ${path}`,
          () => walkList({ insist, key, path, query: { limit: String(limit) } }),
          {
            until: ({ isWhole }) => isWhole,
            deadlineMs: DEADLINE_MS,
          },
        );
      for (const { id } of existing) {
        const walk = await read(`/api/public/webhooks/${id}/deliveries`);
        lists.push({ name: `the list of ${id} in pages of ${limit}`, workspaceId, endpointId: id, walk });
      }
      const walk = await read('/api/public/deliveries');
      lists.push({ name: `the list of ${workspaceId} in pages of ${limit}`, workspaceId, walk });
    }
  }
  return lists;
}
