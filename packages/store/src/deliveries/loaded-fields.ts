// What an attempt needs of each hash, in the order in which `LOAD_DELIVERIES_LUA` replies the values.

/** The first three in this order: the script reads them. */
export const DELIVERY_FIELDS = ['e', 'x', 's', 'n', 'at', 'from', 'due', 'owe', 'end', 'why'] as const;
export const TRANSITION_FIELDS = ['ev', 'ws', 'task', 'body', 'req', 'trace'] as const;
/** The first one first: the script reads it. */
export const ENDPOINT_FIELDS = [
  ...(['dst', 'ws', 'url', 'events', 'desc', 'on', 'at', 'sec', 'offAt', 'offWhy'] as const),
  ...(['fails', 'failAt', 'okAt', 'okFrom', 'sec2', 'sec2To'] as const),
];
