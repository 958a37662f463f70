import {
  PLATFORM,
  type DeliveryId,
  type EndpointId,
  type KnownFact,
  type TaskId,
  type TaskStatus,
  type TransitionId,
  type WorkspaceId,
} from '@herald/core';
import { createQueueKeys } from '@herald/queue';

/**
 * The Redis keys of one shard. All carry its hash tag, so one script may touch any of them. Names are short because
 * every one of a million deliveries pays for them.
 */
export function createShardKeys(tag: string) {
  const prefix = `{${tag}}:`;
  return {
    prefix,
    /** The queue of the shard's deliveries. */
    queue: createQueueKeys(prefix),
    /** zset: ids of a workspace's receivers, by time of registration */
    receivers: (id: WorkspaceId) => `${prefix}w:${id}:receivers`,
    /** string: changes with every change to a workspace's receivers, see `isListened` */
    subscriptionVersion: (id: WorkspaceId) => `${prefix}w:${id}:version`,
    /** zset: ids of those who listen to a workspace, by the time at which the slot of each ends */
    listeners: (id: WorkspaceId) => `${prefix}w:${id}:listeners`,
    /** zset: entries of a workspace's portal links, by the time at which each ends; at most a hundred */
    portalLinks: (id: WorkspaceId) => `${prefix}w:${id}:portals`,
    /** zset: workspaces with portal links, by the time at which the last link of each ends */
    portalWorkspaces: `${prefix}portals`,
    /**
     * zset: ids of a workspace's newest deliveries to callbacks, by time of acceptance; see `LOG_LUA`. Each callback has
     * a log of its own, but a workspace has as many callbacks as Tasks.
     */
    callbackLog: (id: WorkspaceId) => `${prefix}w:${id}:callbacks`,
    /** zset: ids of a workspace's removed receivers, by time of removal, while their logs have deliveries */
    removedReceivers: (id: WorkspaceId) => `${prefix}w:${id}:removed`,
    /** hash: a receiver or a callback, its encrypted secret and its health */
    endpoint: (id: EndpointId) => `${prefix}e:${id}`,
    /** hash: fingerprint of a key of SECRETS_KEY → secrets ever encrypted with it; 0: it was just registered */
    keyVersions: `${prefix}generations`,
    /** zset: ids of an endpoint's newest deliveries, by time of acceptance; see `LOG_LUA` */
    endpointLog: (id: EndpointId) => `${prefix}e:${id}:log`,
    /** zset: names of the older parts of a log, by the time of the newest entry of each */
    logSegments: (log: string) => `${log}:segments`,
    /** zset: an older part of a log */
    logSegment: (log: string, name: string) => `${log}:${name}`,
    /** zset: ids of the deliveries of a log that failed, or were canceled; see `ENDED_LUA` */
    endedLog: (log: string, status: 'failed' | 'canceled') => `${log}:${status}`,
    /** zset: the names of the older parts of such a log, and each of these */
    endedPart: (endedLog: string, name: string) => `${endedLog}:${name}`,
    /** string: counters of the attempts to a receiver, see `counter-layout.ts` */
    endpointStats: (id: EndpointId) => `${prefix}e:${id}:stats`,
    /** string: those of the attempts to all callbacks of a workspace */
    callbackStats: (id: WorkspaceId) => `${prefix}w:${id}:stats`,
    /** string: those of all deliveries of the shard */
    shardStats: `${prefix}stats`,
    /** hash: a Task */
    task: (id: TaskId) => `${prefix}t:${id}`,
    /** hash: keys of the facts that a Task knows → the sequence each was given (0: emitted nothing), see `writeFactValue` */
    facts: (id: TaskId) => `${prefix}t:${id}:facts`,
    /** list: JSON of the messages added to a Task */
    messages: (id: TaskId) => `${prefix}t:${id}:messages`,
    /** hash: `<version>:<approval id>` → JSON of the decision */
    decisions: (id: TaskId) => `${prefix}t:${id}:decisions`,
    /** zset: ids of the Tasks in a status, by time of their last change */
    tasksIn: (status: TaskStatus) => `${prefix}tasks:${status}`,
    /** zset: execution workspaces that the platform has bound to a workspace, by time */
    boundWorkspaces: (id: WorkspaceId) => `${prefix}w:${id}:bound`,
    /** zset: ids of a workspace's Tasks, by time of creation; some of them may have expired */
    workspaceTasks: (id: WorkspaceId) => `${prefix}w:${id}:tasks`,
    /** zset: workspaces, by the number of their pending deliveries; see `ACCOUNT_LUA` */
    pending: `${prefix}pending`,
    /** zset: workspaces, by roughly what their Tasks, facts, bodies, attempts and kept answers take, in bytes; also `platform:<key id>` and `operators:<workspace>` */
    held: `${prefix}held`,
    /** zset: workspaces, by the time at which something of that leaves by itself */
    leaving: `${prefix}leaving`,
    /** hash: time (ms) → how many bytes of a workspace leave by themselves then */
    workspaceLeaving: (id: WorkspaceId) => `${prefix}w:${id}:leaving`,
    /**
     * hash: an emitted transition with its frozen body. These ids say of what kind they are, so nothing else stands before
     * them: in a shard of two digits, such a name fits into 48 bytes of the allocator, and with one letter more takes 64.
     */
    transition: (id: TransitionId) => `${prefix}${id}`,
    /** hash: a delivery's record */
    delivery: (id: DeliveryId) => `${prefix}${id}`,
    /** list: JSON of a delivery's attempts, oldest first; the first one is in the record if it fits, see `FIRST_ATTEMPT` */
    attempts: (id: DeliveryId) => `${prefix}${id}:a`,
    /** zset: ids of the pending deliveries of a Task to an endpoint that asks for order, by sequence; see `LINE_LUA` */
    line: (endpoint: EndpointId, task: TaskId) => `${prefix}o:${endpoint}:${task}`,
    /** hash: a replay and how far it is */
    replay: (id: string) => `${prefix}r:${id}`,
    /** zset: ids of the replays under way, by the time from which a worker continues each */
    replays: `${prefix}replays`,
    /** zset: ids of a workspace's replays, by when each was requested: at most ten under way, and the last hundred that ended */
    workspaceReplays: (id: WorkspaceId) => `${prefix}w:${id}:replays`,
    /** zset: ids of deliveries that failed lately, by the time of the failure; at most a thousand, whoever has most gives */
    failed: `${prefix}failed`,
    /** zset: the same of test events */
    failedTests: `${prefix}failed:tests`,
    /** zset: ids of the deliveries of notices, by time of creation */
    notices: `${prefix}notices`,
    /**
     * zset: ids of settled deliveries that are to move to the history, by the time at which each changed last; those that
     * were set aside by the time of their next try, behind all others (see `ASIDE`)
     */
    settled: `${prefix}settled`,
    /** string: the id of the history to which they move; every shard has it, see `history-mark.ts` */
    history: `${prefix}history`,
    /** string: the lease of the worker that moves them */
    mover: `${prefix}mover`,
    /** zset: ids of the endpoints whose waiting deliveries must end, by the time at which that became so */
    purge: `${prefix}purge`,
    /** stream: who did what to the shard's workspaces, and in the first shard to none of them; see `ADD_ENTRY_LUA` */
    audit: `${prefix}audit`,
    /** zset: the owners of these entries, by the number that each has */
    auditOwners: `${prefix}audit:owners`,
    /** zset: `<owner> <id>` of each of these entries */
    auditIds: `${prefix}audit:ids`,
    /** hash: how far each follower is: `log`, `history` → the id of the last entry that it has; see `audit-trail.ts` */
    auditFollowers: `${prefix}audit:followers`,
    /** a part of these, as one run of resharding makes it anew; deleted when all are in place */
    auditCopy: (name: string) => `${prefix}audit:copy:${name}`,
  };
}
export type ShardKeys = ReturnType<typeof createShardKeys>;

/** The keys of every shard, and those of the shard of a workspace. */
export type Keyspace = { readonly shards: readonly ShardKeys[]; readonly of: (id: WorkspaceId) => ShardKeys };

export function createKeyspace(shardCount: number): Keyspace {
  const shards = SHARD_TAGS.slice(0, shardCount).map(createShardKeys);
  const of = (id: WorkspaceId) => {
    const keys = shards[shardOf(id, shards.length)];
    if (!keys) throw new RangeError(`SHARDS must be 1 to ${SHARD_TAGS.length}`);
    return keys;
  };
  return { shards, of };
}

/** Keys that are found without a workspace. Each lies in the slot that its name gives it. */
export const GLOBAL_KEYS = {
  /** hash: an API key's record, found by the key's SHA-256 */
  apiKey: (lookUp: string) => `herald:key:${lookUp}`,
  /** string: requests of a workspace, of `platform:<key id>` or of `operators:<workspace>`; expires after a second */
  rate: (budget: string) => `herald:rate:${budget}`,
  /** hash: a portal link's record, found by the SHA-256 of its token; expires with the link */
  portalLink: (lookUp: string) => `herald:portal:${lookUp}`,
  /** hash: API key id → the look-up of its record */
  apiKeyIndex: 'herald:keys',
  /** zset: `<workspace, or nothing> <time of creation, ms> <id>` of each API key, all with score 0 */
  apiKeysOfWorkspaces: 'herald:keys:of',
  /** string: the controller workspace of a Task */
  taskWorkspace: (id: TaskId) => `herald:task:${id}`,
  /** hash: a request with an Idempotency-Key, found by the digest of its name */
  idempotencyRecord: (digest: string) => `herald:claim:${digest}`,
  /** zset: ids of the workers, by the time each was last seen */
  workers: 'herald:workers',
  /** zset: every API and worker that has the data open, by the time each was last seen */
  processes: 'herald:processes',
  /**
   * hash: `count`, the SHARDS that the data is laid out for; `movingTo` while it is resharded to another, with `trailCopied`; `layout` of
   * each shard; `upgradingTo` while a former layout is taken over; `dataId`, which data it is; `retention`, the RETENTION by which all that
   * settled leaves (ms); `historySeen`, the id of the history, and when a worker looked at both, before and last (ms)
   */
  shards: 'herald:shards',
  /** string: the lease of the process that takes the data of a former version over */
  upgrade: 'herald:upgrade',
  /** string: set by running processes that have seen the data vanish; expires after they have ended */
  dataLost: 'herald:data-lost',
  /** string: written to find whether Redis takes writes */
  probe: 'herald:probe',
  /** string: an API with TRUST_PROXY=0 got requests through a proxy; expires minutes after the last of them */
  untrustedProxy: 'herald:untrusted-proxy',
} as const;

/**
 * Hash tags of the shards. For every n, the first n tags spread over the 16,384 slots as evenly as n tags can, by
 * CRC16, so that a cluster's masters share them evenly. The order must never change: data lives under it.
 */
export const SHARD_TAGS: readonly string[] = [
  'h0dr h1gg h2qc h3mj h4wc h5kj h6br h7ag h8ng h9mr h10cs h11og h12pq h13lx h14pb h15sw',
  'h16pa h17st h18yj h19ec h20ni h21cc h22dd h23xm h24ai h25ra h26kd h27wm h28ta h29xu h30qf h31bn',
  'h32ap h33be h34ac h35bv h36ra h37nh h38dv h39gc h40fg h41zn h42lj h43pc h44jj h45vc h46of h47cr',
  'h48cb h49ov h50yy h51ep h52ug h53vr h54ut h55va h56zg h57yr h58sl h59oe h60do h61xf h62nb h63rk',
].flatMap((line) => line.split(' '));

/** The largest SHARDS. */
export const SHARD_LIMIT = SHARD_TAGS.length;

/** 32-bit FNV-1a over UTF-16 units. It must never change, as it decides where a workspace's data lies. */
function stableHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash;
}

/** The shard, from 0, that holds everything of a workspace, with the notices about it. */
export function shardOf(workspaceId: WorkspaceId, shardCount: number): number {
  return stableHash(workspaceOfOwner(workspaceId)) % shardCount;
}

/** The end of the name of the owner of the notices about a workspace. */
export const PLATFORM_OWNER = `:${PLATFORM}`;

/**
 * The workspace that an owner belongs to. A notice's owner is its workspace's id and `PLATFORM_OWNER`, which is the id
 * of no workspace: no customer finds the notice, and it lies in the workspace's shard.
 */
export function workspaceOfOwner(owner: string): WorkspaceId {
  return owner.endsWith(PLATFORM_OWNER) ? owner.slice(0, -PLATFORM_OWNER.length) : owner;
}

/** A member of a sorted set, and its score. */
type ScoredId = { readonly id: string; readonly score: number };

/** Parses the flat reply of a range with scores. */
export function readScoredIds(rows: readonly string[]): ScoredId[] {
  return rows.flatMap((id, index) => (index % 2 === 0 ? [{ id, score: Number(rows[index + 1]) }] : []));
}

/**
 * What a Task's facts hold of a fact: the sequence of its transition, and behind a point the digest of its report, if it
 * has one. A version that knows no digests reads it as a number, and finds the order of the sequences.
 */
export function writeFactValue({ sequence, digest }: KnownFact): string {
  return digest === undefined ? String(sequence) : `${sequence}.${digest}`;
}

export function readFactValue(value: string): KnownFact {
  const [sequence, digest] = value.split('.');
  return { sequence: Number(sequence), ...(digest !== undefined && { digest }) };
}
