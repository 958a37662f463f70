import type { ListedEntry, Walk } from './walk-list.ts';

/**
 * Deliveries that the pages of a list show twice, in the wrong place, or not at all.
 * @param name of the list, as a sentence has it
 * @param expected ids of deliveries that it has from the first page to the last
 */
export function judgeWalk(name: string, { entries, isWhole }: Walk, expected: Iterable<string>): string[] {
  const seen = new Set<string>();
  const violations: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const before = entries[index - 1];
    if (seen.has(entry.id)) violations.push(`${name} showed ${entry.id} twice`);
    else if (before && !isBehind(entry, before))
      violations.push(`${name} showed ${entry.id} of ${entry.createdAt} behind ${before.id} of ${before.createdAt}`);
    seen.add(entry.id);
  }
  if (!isWhole) return violations;
  const missing = [...expected].filter((id) => !seen.has(id));
  return [...violations, ...missing.map((id) => `${name} did not show ${id}`)];
}

/** Newest first, and among those of one time the highest id. */
function isBehind(entry: ListedEntry, before: ListedEntry): boolean {
  return entry.createdAt === before.createdAt ? entry.id < before.id : entry.createdAt < before.createdAt;
}
