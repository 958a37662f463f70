import type { ListPlace } from '@herald/core';
import { isAfter } from '../logs/log-reader.ts';

/** What one source has of a list, in its order. `next`: it has looked no further than this place. Absent: to the end. */
export type ListPart<T extends ListPlace> = { readonly entries: readonly T[]; readonly next?: ListPlace };

/**
 * Makes one page of the parts of several sources, none of which repeats an entry of another. The page ends where one of
 * them has not looked any further, because what comes then is not known.
 */
export function mergeParts<T extends ListPlace>(parts: readonly ListPart<T>[], limit: number): ListPart<T> {
  const ends = parts.map(({ next }) => next).filter((next) => next !== undefined);
  const end = ends.reduce<ListPlace | undefined>(
    (first, each) => (first && isAfter(each, first) ? first : each),
    undefined,
  );
  const entries = parts
    .flatMap((part) => part.entries)
    .filter((entry) => !end || !isAfter(entry, end))
    .sort((a, b) => (isAfter(a, b) ? 1 : -1));
  const page = entries.slice(0, limit);
  const next = entries.length > limit ? page.at(-1) : end;
  return { entries: page, ...(next && { next: { at: next.at, id: next.id } }) };
}
