/**
 * `silent` connects and sends nothing; `idle` makes one request and keeps its connection; `slow-headers` and
 * `slow-body` send a byte a second, the latter with a valid API key.
 */
export type SlowBehaviour = 'silent' | 'idle' | 'slow-headers' | 'slow-body';

export type SlowClientsInput = {
  readonly port: number;
  /** How many connections are held of each kind. */
  readonly groups: Readonly<Partial<Record<SlowBehaviour, number>>>;
  readonly key: string;
};

/** Connections that are open now, and how many were opened again after the API had closed them. */
export type SlowClientsReply = { readonly open: number; readonly reopened: number };

export type SlowVariant = { readonly name: string; readonly groups: SlowClientsInput['groups'] };

const MANY = 10_000;
const SOME = 1_000;

/**
 * The first has no slow clients: the others are compared with it. The last repeats it, and shows changes of the machine
 * itself.
 */
export const SLOW_VARIANTS: readonly SlowVariant[] = [
  { name: 'floor: no slow clients', groups: {} },
  { name: `${MANY} idle connections`, groups: { idle: MANY } },
  { name: `${MANY} silent connections`, groups: { silent: MANY } },
  { name: `${SOME} slow headers`, groups: { 'slow-headers': SOME } },
  { name: `${SOME} slow bodies`, groups: { 'slow-body': SOME } },
  { name: 'all of them, most idle', groups: { idle: MANY, silent: SOME, 'slow-headers': SOME, 'slow-body': SOME } },
  { name: 'floor again', groups: {} },
];

/** Files that a process must be able to have open. */
export const NEEDED_FILES = MANY + 3 * SOME + 500;
