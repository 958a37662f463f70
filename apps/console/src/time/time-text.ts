import { createStore } from '../state/create-store.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const UNITS = [
  [DAY_MS, 'd'],
  [HOUR_MS, 'h'],
  [MINUTE_MS, 'min'],
  [SECOND_MS, 's'],
] as const;

/** A length of time, in its largest unit: `3 h`. Below a second: `41 ms`. */
export function roughDuration(ms: number): string {
  for (const [length, unit] of UNITS) if (ms >= length) return `${Math.floor(ms / length)} ${unit}`;
  return `${Math.max(0, Math.round(ms))} ms`;
}

/** A length of time in two units, such as `3 min 20 s`, for what is counted down. */
export function preciseDuration(ms: number): string {
  const index = UNITS.findIndex(([length]) => ms >= length);
  const [large, small] = [UNITS[index], UNITS[index + 1]];
  if (!large) return '0 s';
  const text = `${Math.floor(ms / large[0])} ${large[1]}`;
  const rest = small ? Math.floor((ms % large[0]) / small[0]) : 0;
  return small && rest > 0 ? `${text} ${rest} ${small[1]}` : text;
}

/** The longest durations that statistics tell apart: of an attempt, and from acceptance to arrival. */
export const LONGEST_MS = { attempt: 19_343, arrival: 524_288 } as const;

/** How long an attempt took: `41 ms`, `1.23 s`. */
export function latencyText(ms: number): string {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  return ms < MINUTE_MS ? `${(ms / SECOND_MS).toFixed(ms < 10 * SECOND_MS ? 2 : 1)} s` : preciseDuration(ms);
}

/** What durations are known not to exceed. @param longest more is not told apart */
export function limitText(ms: number, longest: number): string {
  return ms > longest ? `> ${latencyText(longest)}` : `≤ ${latencyText(ms)}`;
}

/** `3 min ago`, `in 2 h`, `now`. */
export function relativeTime(at: number, now: number): string {
  const distance = at - now;
  if (Math.abs(distance) < SECOND_MS) return 'now';
  const length = roughDuration(Math.abs(distance));
  return distance < 0 ? `${length} ago` : `in ${length}`;
}

/** That of the reader, unless he has chosen UTC. */
const zone = () => (showsUtc.get() ? { timeZone: 'UTC' } : {});

/** Date and time in the chosen zone, as they sort: `2030-01-31 14:05:10.123 GMT+1`. */
export function exactTime(at: number): string {
  return `${localDate(at)} ${clockTime(at)}.${String(Math.abs(at % SECOND_MS)).padStart(3, '0')} ${zoneName(at)}`;
}

/** `14:05:10` in the chosen zone. */
export function clockTime(at: number): string {
  return new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', ...zone() }).format(at);
}

/** `Thu, 31 Jan` in the chosen zone. */
export function dayText(at: number): string {
  const day = { weekday: 'short', day: 'numeric', month: 'short' } as const;
  return new Intl.DateTimeFormat('en-GB', { ...day, ...zone() }).format(at);
}

/** `2030-01-31` in the chosen zone. */
function localDate(at: number): string {
  return new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', ...zone() }).format(at);
}

function zoneName(at: number): string {
  const parts = new Intl.DateTimeFormat('en', { timeZoneName: 'short', ...zone() }).formatToParts(at);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC';
}

/** A share as people read it: never 100 % while something failed, and never 0 % while something succeeded. */
export function percentText(share: number): string {
  if (share === 1) return '100 %';
  if (share === 0) return '0 %';
  return `${Math.min(99.9, Math.max(0.1, share * 100)).toFixed(1)} %`;
}

const KEY = 'herald.utc';

/** Frames without a right to storage throw at every touch of it. */
function readQuietly<T>(touch: () => T): T | undefined {
  try {
    return touch();
  } catch {
    return undefined;
  }
}

/** Whether times are shown in UTC, as logs and bodies have them, or in the reader's zone. The browser keeps the choice. */
export const showsUtc = createStore(readQuietly(() => localStorage.getItem(KEY)) === 'true');

export function switchUtc(): void {
  const isOn = !showsUtc.get();
  readQuietly(() => {
    if (isOn) localStorage.setItem(KEY, 'true');
    else localStorage.removeItem(KEY);
  });
  showsUtc.set(isOn);
}
