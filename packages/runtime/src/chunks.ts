/** The list in its order, cut into parts of so many at most. */
export function chunksOf<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
}

/** What `use` makes of each, in their order, with so many calls under way at a time: each waits only for few others. */
export async function mapInChunks<T, R>(
  list: readonly T[],
  atOnce: number,
  use: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (const some of chunksOf(list, atOnce)) results.push(...(await Promise.all(some.map(use))));
  return results;
}
