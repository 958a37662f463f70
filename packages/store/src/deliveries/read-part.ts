import type { Delivery, ListPlace, ListWorkspaceDeliveries, PastDelivery } from '@herald/core';
import type { AttemptRecord } from './attempt-record.ts';
import type { ListPart } from './list-part.ts';

export type WorkspaceFilter = Omit<ListWorkspaceDeliveries, 'limit' | 'cursor' | 'sinceCursor'>;

/** A delivery at its place in a list. `first`: see PresentDelivery. `past`: it is what history has, not Redis. */
export type ListEntry = ListPlace & {
  readonly delivery: Delivery;
  readonly first?: AttemptRecord | undefined;
  readonly past?: PastDelivery;
};

/** A place that was looked at. Its delivery is absent when its record is gone. */
export type Looked = ListPlace & Partial<Omit<ListEntry, keyof ListPlace>>;

/** Records that a page with a filter looks at together, and in all: a filter that matches nothing must come to an end. */
const WINDOW = 200;
const LOOKED_AT_LIMIT = 2_000;

/**
 * Looks at deliveries until `limit` of them match. Without all of them, it may end before the end of the list.
 * @throws what `signal` was aborted with
 * @param next reads the deliveries to look at, in the order of the list; fewer than `count` are the last ones
 */
export async function readPart(
  next: (count: number) => Promise<readonly Looked[]>,
  filter: WorkspaceFilter,
  limit: number,
  signal?: AbortSignal,
): Promise<ListPart<ListEntry> & { readonly looked: ReadonlySet<string>; readonly lookedAt: number }> {
  const entries: ListEntry[] = [];
  const looked = new Set<string>();
  let last: Looked | undefined;
  let lookedAt = 0;
  const toPart = (end?: ListPlace) => ({ entries, looked, lookedAt, ...(end && { next: { at: end.at, id: end.id } }) });
  // Without a filter, nearly all of the first ones belong to the page.
  for (let count = limit; lookedAt < LOOKED_AT_LIMIT; count = WINDOW) {
    signal?.throwIfAborted();
    const some = await next(count);
    lookedAt += some.length;
    for (const { delivery, ...entry } of some) {
      last = entry;
      if (delivery) looked.add(entry.id);
      if (delivery && matches(delivery, filter)) entries.push({ ...entry, delivery });
      if (entries.length === limit) return toPart(last);
    }
    if (some.length < count) return toPart();
  }
  return toPart(last);
}

export function matches(delivery: Delivery, { status, event, receiver, task, since, until }: WorkspaceFilter): boolean {
  const { createdAt, endpointId, taskId } = delivery;
  return (
    (status ?? delivery.status) === delivery.status &&
    (event ?? delivery.event) === delivery.event &&
    (receiver ?? endpointId) === endpointId &&
    (task ?? taskId) === taskId &&
    (since ?? createdAt) <= createdAt &&
    (until === undefined || createdAt < until)
  );
}
