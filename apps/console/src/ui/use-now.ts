import { useEffect, useState } from 'preact/hooks';
import { serverNow } from '../api/server-clock.ts';

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
