/** So many of a thing: `1 delivery`, `2 deliveries`, `0 secrets`. */
export function countOf(count: number, thing: string): string {
  if (count === 1) return `1 ${thing}`;
  return `${count} ${thing.endsWith('y') ? `${thing.slice(0, -1)}ies` : `${thing}s`}`;
}
