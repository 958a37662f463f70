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

/** Rings of groups that take turns. Each ring has its own room in a worker, so that none waits for another. */
export const RINGS = [0, 1, 2, 3] as const;
/** 0: express, which no limit applies to. 1: quick. 2: suspect. 3: slow. */
export type Ring = (typeof RINGS)[number];
export const EXPRESS = 0 satisfies Ring;
export const QUICK = 1 satisfies Ring;
export const SUSPECT = 2 satisfies Ring;
export const SLOW = 3 satisfies Ring;
