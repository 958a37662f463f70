import { exactTime, relativeTime } from '../time/time-text.ts';
import { useNow } from './use-now.ts';

/** A time as the API writes it, shown relative to now; the exact one shows on hover. */
export function Time({ at }: { readonly at: string }) {
  const ms = Date.parse(at);
  const now = useNow();
  return (
    <time dateTime={at} title={exactTime(ms)}>
      {relativeTime(ms, now)}
    </time>
  );
}

/** The exact time, for a list of what happened one after the other. */
export function ExactTime({ at }: { readonly at: string }) {
  const ms = Date.parse(at);
  const now = useNow();
  return (
    <time dateTime={at} title={relativeTime(ms, now)}>
      {exactTime(ms)}
    </time>
  );
}
