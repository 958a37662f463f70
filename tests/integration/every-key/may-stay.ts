import { RECEIVER_LIMIT, REPLAY_LIMIT, TASK_STATUSES } from '@herald/core';
import { GLOBAL_KEYS } from '@herald/store/keys/keys';
import { readKeyName, type KeyKind } from '@herald/store/keys/key-name';
import { BINDING_LIMIT } from '@herald/store/access/binding-store';
import { AUDIT_LENGTH } from '../every-script/process-stores.ts';

export type Kind = KeyKind | keyof typeof GLOBAL_KEYS;

const GLOBAL_KINDS = Object.entries(GLOBAL_KEYS).map(
  ([kind, name]) => [kind as Kind, typeof name === 'string' ? name : name('')] as const,
);

/** Undefined for what belongs to no kind: it must have a time to live. */
export function kindOf(name: string): Kind | undefined {
  const ofShard = readKeyName(name)?.kind;
  if (ofShard) return ofShard;
  const exact = GLOBAL_KINDS.find(([, known]) => known === name);
  return (exact ?? GLOBAL_KINDS.find(([, known]) => known.endsWith(':') && name.startsWith(known)))?.[0];
}

/** What a service has after all that it did has settled and expired. */
export type Kept = {
  /** Workspaces that ever had a receiver. */
  readonly workspaces: number;
  /** Receivers that nobody has removed. */
  readonly receivers: number;
  readonly apiKeys: number;
  /** By the name of a list of Tasks, those of it that have not expired. */
  readonly tasksIn: ReadonlyMap<string, number>;
};

type Bound = {
  readonly why: string;
  /** So many keys at most. Default: 1. */
  readonly keys?: (kept: Kept) => number;
  /** So many members, fields or entries of one at most. Default: 1. */
  readonly members?: (kept: Kept, name: string) => number;
};

/** Keys without a time to live, once nothing is left to do. All others have one. */
export const MAY_STAY: Readonly<Partial<Record<Kind, Bound>>> = {
  receivers: {
    why: 'a receiver stays until it is removed',
    keys: ({ workspaces }) => workspaces,
    members: () => RECEIVER_LIMIT,
  },
  endpoint: { why: 'a receiver stays until it is removed', keys: ({ receivers }) => receivers, members: () => 30 },
  subscriptionVersion: { why: 'a version must never come again', keys: ({ workspaces }) => workspaces },
  workspaceReplays: {
    why: 'those of the last look; the next look takes ended ones out',
    keys: ({ workspaces }) => workspaces,
    members: () => REPLAY_LIMIT,
  },
  keyVersions: { why: 'one field for each key that secrets were encrypted with', members: () => 10 },
  history: { why: 'which history the data has' },
  settings: { why: 'whether the queue is paused', members: () => 3 },
  wake: { why: 'a mark that nobody has taken', keys: () => 3 },
  tasksIn: {
    why: 'the Tasks in a status; a commit to a status takes out what has expired',
    keys: () => TASK_STATUSES.length,
    members: ({ tasksIn }, name) => tasksIn.get(name) ?? 0,
  },
  held: { why: 'what workspaces hold that still live', members: ({ workspaces }) => workspaces + 1 },
  leaving: { why: 'when to look at what they hold', members: ({ workspaces }) => workspaces + 1 },
  workspaceLeaving: {
    why: 'when it leaves',
    keys: ({ workspaces }) => workspaces + 1,
    members: () => 10,
  },
  failed: { why: 'with a history, the latest failures', members: () => 1_000 },
  failedTests: { why: 'with a history, the latest failures', members: () => 1_000 },
  apiKey: { why: 'a key without an end stays until it is revoked', keys: ({ apiKeys }) => apiKeys, members: () => 10 },
  apiKeyIndex: { why: 'one field for each key', members: ({ apiKeys }) => apiKeys },
  apiKeysOfWorkspaces: { why: 'one entry for each key', members: ({ apiKeys }) => apiKeys },
  boundWorkspaces: {
    why: 'a binding stays until the platform ends it',
    keys: ({ workspaces }) => workspaces,
    members: () => BINDING_LIMIT,
  },
  shards: { why: 'what the data is', members: () => 7 },
  audit: { why: 'the newest entries', members: () => AUDIT_LENGTH },
  auditOwners: { why: 'the owners of these entries', members: () => AUDIT_LENGTH },
  auditFollowers: { why: 'how far each of two followers is', members: () => 2 },
  auditIds: { why: 'these entries by owner', members: () => AUDIT_LENGTH },
};

/** Likewise, as long as something is left to do. */
export const STAY_MEANWHILE: readonly Kind[] = [
  ...(['delivery', 'transition', 'attempts', 'pending', 'settled', 'purge', 'line', 'replay', 'replays'] as const),
  ...(['ready', 'turns', 'waiting', 'later', 'leases', 'auditCopy'] as const),
];

/** The longest time to live of a key, in ms: that of a log with a history. */
export const LONGEST_TTL_MS = 130 * 86_400_000;

/** Kinds that nothing here writes, and the test that does. */
export const WRITTEN_ELSEWHERE: Readonly<Partial<Record<Kind, string>>> = {
  auditCopy: 'tests/integration/shards/reshard.test.ts',
};

/** What is wrong today: kinds that stay and may not, or in greater numbers. */
export const KNOWN_LEAKS: readonly string[] = [
  // Nothing ever moves to `queued`, and only such a commit takes out Tasks that have expired.
  'tasksIn',
];
