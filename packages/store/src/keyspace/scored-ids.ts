/** A member of a sorted set, and its score. */
export type ScoredId = { readonly id: string; readonly score: number };

/** Parses the flat reply of a range with scores. */
export function readScoredIds(rows: readonly string[]): ScoredId[] {
  return rows.flatMap((id, index) => (index % 2 === 0 ? [{ id, score: Number(rows[index + 1]) }] : []));
}
