import { useEffect, useState } from 'preact/hooks';
import { serverNow } from '../api/client.ts';
import { exactTime, relativeTime } from '../time/time-text.ts';

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

/** The time of the service, read whenever something is drawn, and every so often: a second for what is counted down. */
export function useNow(everyMs = 10_000): number {
  const [, setTick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      setTick((ticks) => ticks + 1);
    }, everyMs);
    return () => {
      clearInterval(timer);
    };
  }, [everyMs]);
  return serverNow();
}
