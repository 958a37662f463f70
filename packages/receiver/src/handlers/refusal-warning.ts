import type { ReceiverRefusal } from './receiver-refusal.ts';

/** Anybody can send requests that are refused: each reason is printed once in so many ms. */
const QUIET_MS = 10_000;

/** Prints which check a request failed, and how many failed it since. */
export function createRefusalWarning(print: (line: string) => void, now: () => number) {
  const printed = new Map<ReceiverRefusal['reason'], { readonly at: number; more: number }>();
  return function warn({ reason, detail, path, deliveryId }: ReceiverRefusal): void {
    const last = printed.get(reason);
    if (last && now() - last.at < QUIET_MS) {
      last.more++;
      return;
    }
    printed.set(reason, { at: now(), more: 0 });
    const what = deliveryId === undefined ? 'A webhook' : `The webhook ${JSON.stringify(deliveryId)}`;
    const more = last && last.more > 0 ? ` (and ${last.more} more for this reason)` : '';
    // The path and the id are a stranger's words: as JSON they can't pretend to be lines of their own.
    print(`${what} to ${JSON.stringify(path)} was refused (${reason}): ${detail}${more}`);
  };
}
