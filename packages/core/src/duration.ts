const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a duration such as `500ms`, `15s`, `5m`, `2h`, `7d`; undefined when it is none. */
export function readDuration(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text.trim());
  if (!match) return undefined;
  const [, amount, unit] = match;
  return Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

/** A duration as `readDuration` reads it, in the largest unit up to hours of which it is a whole number. */
export function writeDuration(ms: number): string {
  const unit = (['h', 'm', 's'] as const).find((each) => ms % UNIT_MS[each] === 0) ?? 'ms';
  return `${ms / UNIT_MS[unit]}${unit}`;
}
