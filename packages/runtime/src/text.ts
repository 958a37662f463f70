const UNITS = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
  { name: 's', ms: 1_000 },
] as const;

/** A span of ms in one unit: `0 s`, `12 s`, `3 min`, `5 h`, `2 d`. */
export function spanText(ms: number): string {
  const unit = UNITS.find((each) => ms >= each.ms) ?? UNITS[3];
  return `${Math.floor(ms / unit.ms)} ${unit.name}`;
}

/** So many of a thing: `1 delivery`, `2 deliveries`, `0 secrets`, `2 processes`. */
export function countOf(count: number, thing: string): string {
  if (count === 1) return `1 ${thing}`;
  if (/[^aeiou]y$/.test(thing)) return `${count} ${thing.slice(0, -1)}ies`;
  return `${count} ${thing}${thing.endsWith('s') ? 'es' : 's'}`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text as HTML, also within a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
}
