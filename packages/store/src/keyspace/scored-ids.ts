/** A member of a sorted set, and its score. */
export type ScoredId = { readonly id: string; readonly score: number };

/** Parses the flat reply of a range with scores. */
export function readScoredIds(rows: readonly string[]): ScoredId[] {
  const found = [];
  for (let index = 0; index + 1 < rows.length; index += 2) {
    found.push({ id: rows[index] ?? '', score: Number(rows[index + 1]) });
  }
  return found;
}
