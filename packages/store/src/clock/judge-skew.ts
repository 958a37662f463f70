import { warning, type Finding } from '@herald/runtime/findings/finding';
import { SKEW_LIMIT_MS } from './start-clock.ts';

/**
 * Finds that a machine's clock differs too much from Redis' time.
 * @param skewMs how far the machine's clock is ahead; negative: behind
 */
export function judgeSkew(skewMs: number): Finding[] {
  if (Math.abs(skewMs) <= SKEW_LIMIT_MS) return [];
  const difference = `${(Math.abs(skewMs) / 1_000).toFixed(1)} s ${skewMs > 0 ? 'ahead of' : 'behind'}`;
  const sentence = `this machine's clock is ${difference} Redis' time, which Herald follows; certificates and logs go by this machine's clock: let both machines follow a time server (NTP)`;
  return [warning('clock_off', sentence)];
}
