import { useEffect, useState } from 'preact/hooks';
import { serverNow } from '../api/server-clock.ts';

/** The time of the service, read again every so often: a second for what is counted down. */
export function useNow(everyMs = 10_000): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const timer = setInterval(() => {
      setNow(serverNow());
    }, everyMs);
    return () => {
      clearInterval(timer);
    };
  }, [everyMs]);
  return now;
}
