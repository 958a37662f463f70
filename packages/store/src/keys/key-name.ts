import { QUEUE_KEY_NAMES } from '@herald/queue';
import { SHARD_TAGS, type ShardKeys } from './keys.ts';

/** A kind of key of a shard, including those of its queue. */
export type KeyKind = Exclude<keyof ShardKeys, 'prefix' | 'queue'> | Exclude<keyof ShardKeys['queue'], 'prefix'>;

/**
 * How a key finds its new shard. `merged`: every shard has all of it. `split`: an index of a shard, whose members go
 * with their workspaces. `list`: goes alone, before the records that name its owner. `record`: names its owner itself.
 * `attached`: goes with a record. `rebuilt`: says only where deliveries stand, or which ended how; deleted, and made anew from the records.
 * `stays`: says what the shard did, whatever lies in it now; goes with the shard. `trail`: the audit trail, which moves
 * as a whole.
 */
type Step = 'stays' | 'trail' | 'merged' | 'split' | 'list' | 'record' | 'attached' | 'rebuilt';

/** How each kind of key finds its new shard, and its name within a shard. A kind without an entry doesn't compile. */
export const KEY_KINDS = {
  keyVersions: { step: 'merged', name: /^generations$/ },
  settings: { step: 'merged', name: QUEUE_KEY_NAMES.settings },
  history: { step: 'merged', name: /^history$/ },
  tasksIn: { step: 'split', name: /^tasks:(\w+)$/ },
  replays: { step: 'split', name: /^replays$/ },
  failed: { step: 'split', name: /^failed$/ },
  failedTests: { step: 'split', name: /^failed:tests$/ },
  settled: { step: 'split', name: /^settled$/ },
  purge: { step: 'split', name: /^purge$/ },
  notices: { step: 'split', name: /^notices$/ },
  pending: { step: 'split', name: /^pending$/ },
  held: { step: 'split', name: /^held$/ },
  leaving: { step: 'split', name: /^leaving$/ },
  portalWorkspaces: { step: 'split', name: /^portals$/ },
  audit: { step: 'trail', name: /^audit$/ },
  auditOwners: { step: 'trail', name: /^audit:owners$/ },
  auditIds: { step: 'trail', name: /^audit:ids$/ },
  auditFollowers: { step: 'trail', name: /^audit:followers$/ },
  auditCopy: { step: 'rebuilt', name: /^audit:copy:(.+)$/ },
  endpointLog: { step: 'list', name: /^e:([^:]+):log$/ },
  callbackLog: { step: 'list', name: /^w:(.+):callbacks$/ },
  logSegments: { step: 'list', name: /^(e:[^:]+:log|w:.+:callbacks):segments$/ },
  logSegment: { step: 'attached', name: /^(e:[^:]+:log|w:.+:callbacks):\d+-\d+$/ },
  endedLog: { step: 'rebuilt', name: /^((?:e:[^:]+:log|w:.+:callbacks):(?:failed|canceled))$/ },
  endedPart: { step: 'rebuilt', name: /^((?:e:[^:]+:log|w:.+:callbacks):(?:failed|canceled)):(?:segments|\d+-\d+)$/ },
  line: { step: 'list', name: /^o:([^:]+):[^:]+$/ },
  receivers: { step: 'record', name: /^w:(.+):receivers$/ },
  subscriptionVersion: { step: 'record', name: /^w:(.+):version$/ },
  listeners: { step: 'record', name: /^w:(.+):listeners$/ },
  portalLinks: { step: 'record', name: /^w:(.+):portals$/ },
  removedReceivers: { step: 'record', name: /^w:(.+):removed$/ },
  boundWorkspaces: { step: 'record', name: /^w:(.+):bound$/ },
  workspaceTasks: { step: 'record', name: /^w:(.+):tasks$/ },
  workspaceReplays: { step: 'record', name: /^w:(.+):replays$/ },
  endpoint: { step: 'record', name: /^e:([^:]+)$/ },
  task: { step: 'record', name: /^t:([^:]+)$/ },
  transition: { step: 'record', name: /^(trn_[^:]+)$/ },
  replay: { step: 'record', name: /^r:([^:]+)$/ },
  workspaceLeaving: { step: 'record', name: /^w:(.+):leaving$/ },
  callbackStats: { step: 'record', name: /^w:(.+):stats$/ },
  endpointStats: { step: 'attached', name: /^e:([^:]+):stats$/ },
  shardStats: { step: 'stays', name: /^stats$/ },
  group: { step: 'attached', name: QUEUE_KEY_NAMES.group },
  facts: { step: 'attached', name: /^t:([^:]+):facts$/ },
  messages: { step: 'attached', name: /^t:([^:]+):messages$/ },
  decisions: { step: 'attached', name: /^t:([^:]+):decisions$/ },
  delivery: { step: 'attached', name: /^(dlv_[^:]+)$/ },
  attempts: { step: 'attached', name: /^(dlv_[^:]+):a$/ },
  mover: { step: 'rebuilt', name: /^mover$/ },
  waiting: { step: 'rebuilt', name: QUEUE_KEY_NAMES.waiting },
  ready: { step: 'rebuilt', name: QUEUE_KEY_NAMES.ready },
  turns: { step: 'rebuilt', name: QUEUE_KEY_NAMES.turns },
  wake: { step: 'rebuilt', name: QUEUE_KEY_NAMES.wake },
  later: { step: 'rebuilt', name: QUEUE_KEY_NAMES.later },
  leases: { step: 'rebuilt', name: QUEUE_KEY_NAMES.leases },
} as const satisfies Record<KeyKind, { step: Step; name: RegExp }>;
const SHARDS = new Map(SHARD_TAGS.map((tag, shard) => [tag, shard]));
const KINDS = Object.entries(KEY_KINDS) as [KeyKind, { name: RegExp }][];

/** Kinds of keys that find their new shard in this way. */
export type KindsOf<Way extends Step> = {
  [Kind in KeyKind]: (typeof KEY_KINDS)[Kind]['step'] extends Way ? Kind : never;
}[KeyKind];

/** A key of a shard, by its name. */
export type KeyName = {
  readonly shard: number;
  readonly kind: KeyKind;
  /** The rest of the name, such as an id or a status; '' where there is none. */
  readonly id: string;
};

/** Undefined for a key of no shard, and for a key of a kind that this release doesn't know. */
export function readKeyName(name: string): KeyName | undefined {
  const [, tag = '', rest = ''] = /^\{([^}]*)\}:(.+)$/s.exec(name) ?? [];
  const shard = SHARDS.get(tag);
  if (shard === undefined) return undefined;
  for (const [kind, pattern] of KINDS) {
    const found = pattern.name.exec(rest);
    if (found) return { shard, kind, id: found[1] ?? '' };
  }
  return undefined;
}
