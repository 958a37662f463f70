/**
 * The Redis keys of one queue. All begin with its prefix, which carries a hash tag, so that one script may touch any of
 * them. Scripts make the keys of groups and jobs from the prefix, in the same slot, because their number varies.
 */
export function createQueueKeys(prefix: string) {
  return {
    prefix,
    /** zset: ids of a group's waiting jobs, by class and due time (see `scoreOf`) */
    waiting: (group: string) => `${prefix}q:${group}`,
    /** hash: the state of a group; see GROUP_LUA */
    group: (group: string) => `${prefix}g:${group}`,
    /** zset: groups of a ring that have a due job and a free slot, by their turn */
    ready: (ring: Ring) => `${prefix}ready:${ring}`,
    /** zset: the next turn of each tenant in a ring in which groups wait for theirs; see `turnIn` of GROUP_LUA */
    turns: (ring: Ring) => `${prefix}turns:${ring}`,
    /** zset: its one member wakes a worker that waits for the ring */
    wake: (ring: Ring) => `${prefix}wake:${ring}`,
    /** zset: groups that have waiting jobs but are not ready, by the time at which to look again (ms) */
    later: `${prefix}later`,
    /** zset: leases of jobs in work, by their end (ms) */
    leases: `${prefix}leases`,
    /** hash: `paused` while the queue is paused, `n` the number of its waiting jobs */
    settings: `${prefix}queue`,
  };
}
export type QueueKeys = ReturnType<typeof createQueueKeys>;

/** How these keys are called behind their prefix. In parentheses: the group, or the number of the ring. */
export const QUEUE_KEY_NAMES = {
  waiting: /^q:([^:]*)$/,
  group: /^g:([^:]*)$/,
  ready: /^ready:(\d)$/,
  turns: /^turns:(\d)$/,
  wake: /^wake:(\d)$/,
  later: /^later$/,
  leases: /^leases$/,
  settings: /^queue$/,
} as const satisfies Record<Exclude<keyof QueueKeys, 'prefix'>, RegExp>;

/** Rings of groups that take turns. Each ring has its own room in a worker, so that none waits for another. */
export const RINGS = [0, 1, 2, 3] as const;
/** 0: express, which no limit applies to. 1: quick. 2: suspect. 3: slow. */
export type Ring = (typeof RINGS)[number];
export const EXPRESS = 0 satisfies Ring;
export const QUICK = 1 satisfies Ring;
export const SUSPECT = 2 satisfies Ring;
export const SLOW = 3 satisfies Ring;

/** The order of jobs within a group: `urgent` first; `background` only when no other job is due. */
const JOB_CLASSES = { urgent: 0, usual: 1, background: 2 } as const;
type JobClass = keyof typeof JOB_CLASSES;

/**
 * The distance between the classes' scores: larger than any time in ms, and small enough for a double to keep every ms.
 */
export const CLASS_FACTOR = 1e13;

/**
 * The score of a job among the waiting jobs of its group.
 * @param dueAt epoch ms
 */
export function scoreOf(jobClass: JobClass, dueAt: number): number {
  return JOB_CLASSES[jobClass] * CLASS_FACTOR + dueAt;
}

/** When a job with this score is due, epoch ms. */
export function dueAtOf(score: number): number {
  return score % CLASS_FACTOR;
}

/** Runs a Lua script in one slot with keys and arguments. The reply is outside input: the caller parses it. */
export type Script = (keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>;

/** Makes a Lua script callable. Its name tells it apart from the others. */
export type DefineScript = (name: string, lua: string) => Script;

/** Access to one queue in Redis. */
export type QueueAccess = {
  /** Prefix of all keys of the queue. Carries a hash tag, such as `{a}:`. */
  readonly prefix: string;
  /** Defines scripts on a connection that never blocks. */
  readonly defineScript: DefineScript;
  /** Redis' time, which all processes share, epoch ms. */
  readonly now: () => number;
};
