import { showsUtc } from '../time/zone.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';

/** What an input of the type `datetime-local` holds for a time, in the chosen zone. */
export function toLocalInput(ms: number): string {
  const offsetMs = showsUtc.get() ? 0 : new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - offsetMs).toISOString().slice(0, 16);
}

/** The time of such an input; undefined while it is empty. */
export function fromLocalInput(text: string): string | undefined {
  const ms = text === '' ? NaN : new Date(showsUtc.get() ? `${text}Z` : text).getTime();
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

/** Why a replay can't be asked for like this, or undefined. */
export function judgeReplay(since: string, until: string, statuses: readonly string[]): string | undefined {
  const { sinceMissing, order, chooseOne } = receiverTexts.replay;
  const [from, to] = [fromLocalInput(since), fromLocalInput(until)];
  if (from === undefined) return sinceMissing;
  if (to !== undefined && to <= from) return order;
  return statuses.length === 0 ? chooseOne : undefined;
}
