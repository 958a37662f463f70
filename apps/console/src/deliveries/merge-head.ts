type Row = { readonly id: string };

/**
 * Brings rows up to date from the newest ones of the same list, each at its place.
 * `fresh`: those on top that are not shown yet. `isMore`: there may be even more than those.
 */
export function mergeHead<T extends Row>(rows: readonly T[], head: readonly T[]) {
  const newest = new Map(head.map((row) => [row.id, row]));
  const shown = new Set(rows.map(({ id }) => id));
  const fresh = head.filter(({ id }) => !shown.has(id));
  return {
    rows: rows.map((row) => newest.get(row.id) ?? row),
    fresh,
    isMore: head.length > 0 && fresh.length === head.length,
  };
}
