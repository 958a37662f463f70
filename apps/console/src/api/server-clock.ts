/** A difference up to this comes from the way, and from a header that counts whole seconds. */
const NOISE_MS = 2_000;

let skewMs = 0;

/** Learns the time of the service from an answer's `Date`: the clock of a reader may be wrong by minutes. */
export function noteServerTime(date: string | null, now = Date.now()): void {
  const skew = date === null ? NaN : Date.parse(date) - now;
  if (!Number.isNaN(skew)) skewMs = Math.abs(skew) > NOISE_MS ? skew : 0;
}

/** Now, by the clock of the service, in epoch ms. */
export function serverNow(): number {
  return Date.now() + skewMs;
}
