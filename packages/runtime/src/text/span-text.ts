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
