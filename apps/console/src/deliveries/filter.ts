const STATUSES = ['pending', 'delivered', 'failed', 'canceled'] as const;
const EVENTS = ['task.check_in', 'task.requires_action', 'task.done', 'task.canceled', 'webhook.test'] as const;
const RANGES_MS = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const;

export type Range = keyof typeof RANGES_MS;

/** What of a receiver's deliveries is shown. It lives in the address. */
export type Filter = {
  readonly status?: (typeof STATUSES)[number];
  readonly event?: (typeof EVENTS)[number];
  readonly range?: Range;
  readonly task?: string;
};

/** Reads a filter from a query; what means nothing is left out. */
export function readFilter(query: URLSearchParams): Filter {
  const status = oneOf(STATUSES, query.get('status'));
  const event = oneOf(EVENTS, query.get('event'));
  const range = oneOf(Object.keys(RANGES_MS) as Range[], query.get('range'));
  const task = query.get('task');
  return {
    ...(status !== undefined && { status }),
    ...(event !== undefined && { event }),
    ...(range !== undefined && { range }),
    ...(task !== null && /^task_[a-z0-9]+$/.test(task) && { task }),
  };
}

/** Writes a filter into a query and keeps what else is in it. */
export function writeFilter(filter: Filter, query: URLSearchParams): URLSearchParams {
  const written = new URLSearchParams(query);
  for (const name of ['status', 'event', 'range', 'task'] as const) {
    const value = filter[name];
    if (value === undefined) written.delete(name);
    else written.set(name, value);
  }
  return written;
}

/** The parameters with which the API is asked. */
export function toQuery({ range, task: _task, ...filter }: Filter, now: number) {
  return { ...filter, ...(range !== undefined && { since: new Date(now - RANGES_MS[range]).toISOString() }) };
}

export const isFiltered = (filter: Filter): boolean => Object.keys(filter).length > 0;

export const FILTER_CHOICES = { statuses: STATUSES, events: EVENTS, ranges: Object.keys(RANGES_MS) as Range[] };

function oneOf<T extends string>(known: readonly T[], text: string | null): T | undefined {
  return known.find((each) => each === text);
}
