/** A name that takes more changes than this share of its letters is another word. */
const DISTANCE_SHARE = 0.4;

/** The known name that somebody most likely meant, such as `events` for `event` or `Evnets`. */
export function findNearest(name: string, known: readonly string[]): string | undefined {
  const distances = known.map((each) => ({ each, distance: distanceOf(name.toLowerCase(), each.toLowerCase()) }));
  const [nearest] = distances.sort((a, b) => a.distance - b.distance);
  return nearest && nearest.distance <= nearest.each.length * DISTANCE_SHARE ? nearest.each : undefined;
}

/** How many letters must be added, removed or replaced (Levenshtein). */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let at = 0; at < from.length; at++) {
    const next = [at + 1];
    for (let index = 0; index < to.length; index++) {
      const replaced = (row[index] ?? 0) + (from[at] === to[index] ? 0 : 1);
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
