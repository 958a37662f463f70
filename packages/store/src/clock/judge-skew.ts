import type { Finding } from '@herald/runtime/findings/finding';
import { SKEW_LIMIT_MS } from './start-clock.ts';

/** What to say of a machine whose clock is so many ms ahead of Redis' time, negative: behind; nothing when it is about right. */
export function judgeSkew(skewMs: number): Finding[] {
  if (Math.abs(skewMs) <= SKEW_LIMIT_MS) return [];
  const difference = `${(Math.abs(skewMs) / 1_000).toFixed(1)} s ${skewMs > 0 ? 'ahead of' : 'behind'}`;
  return [
    {
      level: 'warning',
      code: 'clock_off',
      sentence: `this machine's clock is ${difference} Redis' time, which Herald follows; certificates and logs go by this machine's clock: let both machines follow a time server (NTP)`,
    },
  ];
}
