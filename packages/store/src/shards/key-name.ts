import type { ShardKeys } from '../keyspace/keys.ts';
import { SHARD_TAGS } from '../keyspace/shards.ts';

/** A kind of key that a shard has, its queue's among them. */
export type KeyKind = Exclude<keyof ShardKeys, 'prefix' | 'queue'> | Exclude<keyof ShardKeys['queue'], 'prefix'>;

/**
 * How each kind of key finds its new shard. A kind that has no place here doesn't compile.
 * `merged`: every shard has all of it. `split`: an index of a shard, whose members go with their workspaces.
 * `list`: goes alone, and before the records that say whose it is. `record`: says itself whose it is.
 * `attached`: goes with a record. `rebuilt`: says only where deliveries stand; deleted, and made anew from the records.
 */
export const KEY_STEPS = {
  keyVersions: 'merged',
  settings: 'merged',
  tasksIn: 'split',
  replays: 'split',
  failed: 'split',
  purge: 'split',
  endpointLog: 'list',
  receivers: 'record',
  subscriptionVersion: 'record',
  workspaceReplays: 'record',
  endpoint: 'record',
  task: 'record',
  transition: 'record',
  replay: 'record',
  group: 'attached',
  facts: 'attached',
  messages: 'attached',
  decisions: 'attached',
  delivery: 'attached',
  attempts: 'attached',
  waiting: 'rebuilt',
  ready: 'rebuilt',
  wake: 'rebuilt',
  later: 'rebuilt',
  leases: 'rebuilt',
} as const satisfies Record<KeyKind, 'merged' | 'split' | 'list' | 'record' | 'attached' | 'rebuilt'>;

/** Kinds of keys that find their new shard in this way. */
export type KindsOf<Step> = { [Kind in KeyKind]: (typeof KEY_STEPS)[Kind] extends Step ? Kind : never }[KeyKind];

const PATTERNS: Record<KeyKind, RegExp> = {
  keyVersions: /^generations$/,
  settings: /^queue$/,
  tasksIn: /^tasks:(\w+)$/,
  replays: /^replays$/,
  failed: /^failed$/,
  purge: /^purge$/,
  endpointLog: /^e:([^:]+):log$/,
  receivers: /^w:(.+):receivers$/,
  subscriptionVersion: /^w:(.+):version$/,
  workspaceReplays: /^w:(.+):replays$/,
  endpoint: /^e:([^:]+)$/,
  task: /^t:([^:]+)$/,
  transition: /^x:([^:]+)$/,
  replay: /^r:([^:]+)$/,
  group: /^g:([^:]*)$/,
  facts: /^t:([^:]+):facts$/,
  messages: /^t:([^:]+):messages$/,
  decisions: /^t:([^:]+):decisions$/,
  delivery: /^d:([^:]+)$/,
  attempts: /^d:([^:]+):a$/,
  waiting: /^q:([^:]*)$/,
  ready: /^ready:(\d)$/,
  wake: /^wake:(\d)$/,
  later: /^later$/,
  leases: /^leases$/,
};
const KINDS = Object.entries(PATTERNS) as [KeyKind, RegExp][];

/** A key of a shard, by its name. */
export type KeyName = {
  readonly shard: number;
  readonly kind: KeyKind;
  /** What the name says besides, such as an id or a status; '' where it says nothing. */
  readonly id: string;
};

const SHARDS = new Map(SHARD_TAGS.map((tag, shard) => [tag, shard]));

/** Undefined for a key of no shard, and for one of a kind that this release doesn't know. */
export function readKeyName(name: string): KeyName | undefined {
  const [, tag = '', rest = ''] = /^\{([^}]*)\}:(.+)$/s.exec(name) ?? [];
  const shard = SHARDS.get(tag);
  if (shard === undefined) return undefined;
  for (const [kind, pattern] of KINDS) {
    const found = pattern.exec(rest);
    if (found) return { shard, kind, id: found[1] ?? '' };
  }
  return undefined;
}
