/**
 * JSON with the members of each object in the order of their names: one text for all ways to write the same value.
 * @param levels values that are nested deeper are ignored
 */
export function canonicalJson(value: unknown, levels = Infinity): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (levels === 0) return '…';
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, levels - 1)).join(',')}]`;
  const members = value as Readonly<Record<string, unknown>>;
  const texts = Object.keys(members)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(members[name], levels - 1)}`);
  return `{${texts.join(',')}}`;
}
