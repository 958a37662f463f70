/** So many of a thing: `1 delivery`, `2 deliveries`, `0 secrets`, `2 processes`. */
export function countOf(count: number, thing: string): string {
  if (count === 1) return `1 ${thing}`;
  if (/[^aeiou]y$/.test(thing)) return `${count} ${thing.slice(0, -1)}ies`;
  return `${count} ${thing}${thing.endsWith('s') ? 'es' : 's'}`;
}
