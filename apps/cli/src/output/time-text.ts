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

/** A time (epoch ms) relative to now: `3 min ago`, `in 5 h`, `now`. */
export function relativeText(at: number, now: number): string {
  const ms = now - at;
  if (Math.abs(ms) < 1_000) return 'now';
  return ms > 0 ? `${spanText(ms)} ago` : `in ${spanText(-ms)}`;
}

/** @param ms epoch ms */
export function toDate(ms: number | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(ms);
}
