import type { Schemas } from '../api/client.ts';
import { codeWords } from '../texts/code-words.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';

type EventName = Schemas['EventName'];
type TaskEvent = Exclude<EventName, 'webhook.test'>;

const STATUSES = ['pending', 'delivered', 'failed', 'canceled'] as const;
// Compiles only while every event of the API has its words.
const MEANINGS: Readonly<Record<TaskEvent, string>> = receiverTexts.form.meanings;
export const TASK_EVENTS = Object.keys(MEANINGS) as readonly TaskEvent[];
const EVENTS: readonly EventName[] = [...TASK_EVENTS, 'webhook.test'];
const RANGES_MS = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const;

export type Range = keyof typeof RANGES_MS;

/** What of the deliveries is shown. It lives in the address. */
export type Filter = {
  readonly status?: (typeof STATUSES)[number];
  readonly event?: EventName;
  readonly range?: Range;
  /** The error of the last attempt, or the reason. */
  readonly error?: string;
  /** The status of the last answer, or a hundred of them: `5xx`. */
  readonly http?: string;
  readonly task?: string;
  /** Of all deliveries: only those to this receiver. */
  readonly receiver?: string;
};

/** Whether it is a status of HTTP, or a hundred of them. */
export const isHttp = (text: string): boolean => /^[1-9](?:\d\d|xx)$/.test(text);

/** Reads a filter from a query; what means nothing is left out. */
export function readFilter(query: URLSearchParams): Filter {
  const status = oneOf(STATUSES, query.get('status'));
  const event = oneOf(EVENTS, query.get('event'));
  const range = oneOf(Object.keys(RANGES_MS) as Range[], query.get('range'));
  const error = oneOf(Object.keys(codeWords), query.get('error'));
  const [http = '', task = '', receiver = ''] = ['http', 'task', 'receiver'].map((name) => query.get(name) ?? '');
  return {
    ...(status !== undefined && { status }),
    ...(event !== undefined && { event }),
    ...(range !== undefined && { range }),
    ...(error !== undefined && { error }),
    ...(isHttp(http) && { http }),
    ...(/^task_[a-z0-9]+$/.test(task) && { task }),
    ...(/^wh_[a-z0-9]+$/.test(receiver) && { receiver }),
  };
}

/** Writes a filter into a query and keeps what else is in it. */
export function writeFilter(filter: Filter, query: URLSearchParams): URLSearchParams {
  const written = new URLSearchParams(query);
  for (const name of ['status', 'event', 'range', 'error', 'http', 'task', 'receiver'] as const) {
    const value = filter[name];
    if (value === undefined) written.delete(name);
    else written.set(name, value);
  }
  return written;
}

/** Since when deliveries of a range were accepted, as the API takes it. */
export function sinceOf(range: Range | undefined, now: number): string | undefined {
  return range === undefined ? undefined : new Date(now - RANGES_MS[range]).toISOString();
}

/** The parameters with which the API is asked. */
export function toQuery({ range, task: _task, receiver: _receiver, http, ...filter }: Filter, now: number) {
  const since = sinceOf(range, now);
  return { ...filter, ...(http !== undefined && { httpStatus: http }), ...(since !== undefined && { since }) };
}

export const isFiltered = (filter: Filter): boolean => Object.keys(filter).length > 0;

export const FILTER_CHOICES = { statuses: STATUSES, events: EVENTS, ranges: Object.keys(RANGES_MS) as Range[] };

function oneOf<T extends string>(known: readonly T[], text: string | null): T | undefined {
  return known.find((each) => each === text);
}

type Row = { readonly id: string };

/**
 * Brings rows up to date from the newest ones of the same list, each at its place.
 * `fresh`: those on top that are not shown yet. `isMore`: there may be even more than those.
 */
export function mergeHead<T extends Row>(rows: readonly T[], head: readonly T[]) {
  const newest = new Map(head.map((row) => [row.id, row]));
  const shown = new Set(rows.map(({ id }) => id));
  const fresh = head.filter(({ id }) => !shown.has(id));
  return {
    rows: rows.map((row) => newest.get(row.id) ?? row),
    fresh,
    isMore: head.length > 0 && fresh.length === head.length,
  };
}
