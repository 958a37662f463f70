import { QUEUE_NAMES } from '../queues/queue-names.ts';
import type { ShardKeys } from '../redis/keys.ts';
import { SHARD_TAGS } from '../redis/shards.ts';

/** A kind of key that a shard has. */
export type KeyKind = Exclude<keyof ShardKeys, 'prefix' | 'bullPrefix'>;

/**
 * How each kind of key finds its new shard. A kind that has no place here doesn't compile.
 * `merged`: every shard has all of it. `split`: an index of a shard, whose members go with their workspaces.
 * `list`: goes alone, and before the records that say whose it is. `record`: says itself whose it is.
 * `attached`: goes with a record.
 */
export const KEY_STEPS = {
  generations: 'merged',
  tasksIn: 'split',
  owed: 'split',
  open: 'split',
  backlogs: 'split',
  replays: 'split',
  failed: 'split',
  purge: 'split',
  endpointLog: 'list',
  backlog: 'list',
  receivers: 'record',
  subscriptionVersion: 'record',
  workspaceReplays: 'record',
  endpoint: 'record',
  task: 'record',
  transition: 'record',
  replay: 'record',
  breaker: 'attached',
  facts: 'attached',
  messages: 'attached',
  decisions: 'attached',
  delivery: 'attached',
  attempts: 'attached',
} as const satisfies Record<KeyKind, 'merged' | 'split' | 'list' | 'record' | 'attached'>;

/** Kinds of keys that find their new shard in this way. */
export type KindsOf<Step> = { [Kind in KeyKind]: (typeof KEY_STEPS)[Kind] extends Step ? Kind : never }[KeyKind];

const PATTERNS: Record<KeyKind, RegExp> = {
  generations: /^generations$/,
  tasksIn: /^tasks:(\w+)$/,
  owed: /^owed$/,
  open: /^open$/,
  backlogs: /^backlogs$/,
  replays: /^replays$/,
  failed: /^failed$/,
  purge: /^purge$/,
  endpointLog: /^e:([^:]+):log$/,
  backlog: /^b:([^:]*)$/,
  receivers: /^w:(.+):receivers$/,
  subscriptionVersion: /^w:(.+):version$/,
  workspaceReplays: /^w:(.+):replays$/,
  endpoint: /^e:([^:]+)$/,
  task: /^t:([^:]+)$/,
  transition: /^x:([^:]+)$/,
  replay: /^r:([^:]+)$/,
  breaker: /^k:([^:]*)$/,
  facts: /^t:([^:]+):facts$/,
  messages: /^t:([^:]+):messages$/,
  decisions: /^t:([^:]+):decisions$/,
  delivery: /^d:([^:]+)$/,
  attempts: /^d:([^:]+):a$/,
};
const KINDS = Object.entries(PATTERNS) as [KeyKind, RegExp][];

/** BullMQ's keys, of which the next to last part of the name is the queue's. */
const LINE = new RegExp(`^(?:${QUEUE_NAMES.join('|')}):(.+)$`);

/** A key of a shard, by its name. */
export type KeyName = {
  readonly shard: number;
  /** `line`: one of BullMQ's. */
  readonly kind: KeyKind | 'line';
  /** What the name says besides: an id, a status, or the end of BullMQ's name. */
  readonly id: string;
};

const SHARDS = new Map(SHARD_TAGS.map((tag, shard) => [tag, shard]));

/** Undefined for a key of no shard, and for one of a kind that this release doesn't know. */
export function readKeyName(name: string): KeyName | undefined {
  const [, tag = '', rest = ''] = /^\{([^}]*)\}:(.+)$/s.exec(name) ?? [];
  const shard = SHARDS.get(tag);
  if (shard === undefined) return undefined;
  const line = LINE.exec(rest);
  if (line) return { shard, kind: 'line', id: line[1] ?? '' };
  for (const [kind, pattern] of KINDS) {
    const found = pattern.exec(rest);
    if (found) return { shard, kind, id: found[1] ?? '' };
  }
  return undefined;
}
