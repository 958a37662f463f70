import { setImmediate, setTimeout as pause } from 'node:timers/promises';
import { EXPRESS, RINGS, type Ring } from '../queue-keys.ts';
import type { Reserve, Reserved } from './reserve.ts';
import type { Slot, Slots } from './slots.ts';

/** A reserved job and its slot in this process. */
export type Held = {
  readonly reserved: Reserved;
  readonly slot: Slot;
  /** As it was reserved, by Redis' time, epoch ms. */
  readonly leaseEndsAt: number;
};

export type ReservationsDeps = {
  readonly reserve: Reserve;
  readonly slots: Slots;
  /** Jobs in work that a group may have, over all workers. */
  readonly groupLimit: number;
  readonly leaseMs: number;
  /** Waits until one of the rings is marked, at most so many seconds. */
  readonly waitForRings: (rings: readonly Ring[], seconds: number) => Promise<boolean>;
  /** Gives jobs back that were never started. */
  readonly giveBack: (jobs: readonly Held[]) => Promise<void>;
  /** What no other process has, without `|`. */
  readonly processId: string;
  /** Redis' time, epoch ms. */
  readonly now: () => number;
};

/**
 * Jobs of a ring that one reserve brings at most. Redis does nothing else meanwhile. With 10 a drain took a fifth
 * more processor time, of the worker and of Redis: what starts together shares writes, reads and scripts until it has ended.
 */
const MOST_RESERVED = [25, 25, 10] as const;
/** How long to wait before looking again whether a slot is free that no job's end has told of, in seconds. */
const LOOK_AGAIN_SECONDS = 0.1;
/**
 * What must be left of a job's lease when it is started, as a part of the whole. BullMQ renews leases when half has passed at the
 * latest, counted from the start.
 */
const LEFT_AT_START = 0.6;
/** What must be left of the lease of a reserve that failed, for it to be tried again under its name. */
const LEFT_AT_REPEAT = 0.75;
/** How often a queue is looked at that is paused but for its express groups, in seconds. */
const PAUSED_SECONDS = 1;
/** A reserve that Redis refused, as when it is out of memory, is tried again after so long, in seconds. */
const REFUSED_SECONDS = 0.5;

/**
 * Jobs on their way from Redis to BullMQ, which asks for one at a time and starts what it has as soon as it gets none. A reserve brings
 * several; they are handed over one by one, and then there is nothing for once, so that all of them start.
 */
export function createReservations(deps: ReservationsDeps) {
  const { reserve, slots, groupLimit, leaseMs, waitForRings, giveBack, processId, now } = deps;
  const buffer: Held[] = [];
  /** By ring, whether groups may be ready: only a reserve says that none is. */
  let left: readonly boolean[] = [true, true, true];
  let lookAgainAt = 0;
  let reserves = 0;
  /** The reserve to which no reply came: what it may have brought is had by asking for it once more. */
  let unanswered: { readonly nonce: string; readonly leaseEndsAt: number } | undefined;
  let hasHandedOver = false;
  let isPaused = false;
  let stopping = new AbortController();
  /** The rings that are waited for right now. */
  let waitedFor: readonly Ring[] | undefined;
  let underWay: Promise<void> | undefined;

  const isStopped = (): boolean => stopping.signal.aborted;

  /** At the longest until it is stopped. */
  const sleep = async (seconds: number): Promise<void> => {
    const { signal } = stopping;
    await pause(1_000 * seconds, undefined, { ref: false, signal }).catch(() => undefined);
  };

  const reserveOnce = async (): Promise<void> => {
    if (unanswered) await sleep(REFUSED_SECONDS);
    if (isStopped()) return;
    const rooms = slots.rooms().map((room, ring) => Math.max(0, Math.min(room, MOST_RESERVED[ring] ?? 0)));
    const at = now();
    if (!unanswered || unanswered.leaseEndsAt - at < LEFT_AT_REPEAT * leaseMs)
      unanswered = { nonce: `${processId}${(reserves++).toString(36)}`, leaseEndsAt: at + leaseMs };
    const { nonce, leaseEndsAt } = unanswered;
    const reply = await reserve({ now: at, leaseEndsAt, nonce, groupLimit, rooms, slowGroups: slots.findSlow() });
    unanswered = undefined;
    isPaused = reply.kind === 'paused';
    left = reply.left;
    // A paused queue is looked at often enough.
    lookAgainAt = isPaused ? 0 : reply.lookAgainAt;
    for (const reserved of reply.jobs)
      buffer.push({ reserved, slot: slots.start(reserved.group, reserved.ring), leaseEndsAt });
    if (isStopped()) await stop();
  };

  /** The next of the buffer. One whose lease might end before it is renewed goes back; one whose lease has ended is not taken from others. */
  const take = (): Held | undefined => {
    const late: Held[] = [];
    let next = buffer.shift();
    for (; next && next.leaseEndsAt - now() < LEFT_AT_START * leaseMs; next = buffer.shift()) {
      slots.end(next.slot, 'unsent');
      late.push(next);
    }
    // What can't be given back comes again when its lease ends.
    if (late.length > 0) void giveBack(late).catch(() => undefined);
    return next;
  };

  /** One at a time; whoever comes meanwhile gets what the other brings. */
  const reserveMore = (): Promise<void> => {
    underWay ??= reserveOnce().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };

  const takeOrReserve = async (): Promise<Held | undefined> => {
    const job = take();
    if (job) return job;
    await reserveMore();
    return take();
  };

  const stop = async (): Promise<void> => {
    stopping.abort();
    const unstarted = buffer.splice(0);
    for (const { slot } of unstarted) slots.end(slot, 'unsent');
    if (unstarted.length > 0) await giveBack(unstarted);
  };

  /** Rings that are served and have room. */
  const ringsWithRoom = (): readonly Ring[] => {
    const rooms = slots.rooms();
    return RINGS.filter((ring) => rooms[ring] > 0 && (ring === EXPRESS || !isPaused));
  };

  const hasRoomFor = (rings: (ring: Ring) => boolean): boolean => ringsWithRoom().some(rings);

  /** In seconds. What nobody tells of must be looked for: the end of a pause, and room that a slow group has left. */
  const longestWait = (rings: readonly Ring[]): number => {
    if (isPaused) return PAUSED_SECONDS;
    return rings.length < RINGS.length ? LOOK_AGAIN_SECONDS : Infinity;
  };

  const hasLeft = (ring: Ring): boolean => left[ring] === true;

  /** The next job once another has ended. Undefined also where the one who waits gets it, or who fetches anyway. */
  const nextAfterEnd = async (): Promise<Held | undefined> => {
    const covered = waitedFor;
    if (buffer.length > 0 || !covered || !hasRoomFor((ring) => hasLeft(ring) || !covered.includes(ring))) return take();
    // Several jobs often end at once: their slots are filled by one reserve.
    await setImmediate();
    const job = await takeOrReserve();
    // It may have been another's, made when there was less room.
    return job ?? (hasRoomFor(hasLeft) ? await takeOrReserve() : undefined);
  };

  return {
    /** The next job; undefined when none is due, or those handed over before should be started first. */
    async next(): Promise<Held | undefined> {
      if (isStopped()) return undefined;
      // Somebody waits already, so this one comes from a job that has ended.
      if (waitedFor) return await nextAfterEnd();
      const job = hasHandedOver ? take() : await takeOrReserve();
      hasHandedOver = job !== undefined;
      return job;
    },

    nextAfterEnd,

    /** @returns whether there may be a job now */
    async wait(seconds: number): Promise<boolean> {
      // Whatever ends the wait, and a mark is gone with it, is followed by a reserve.
      hasHandedOver = false;
      if (unanswered || buffer.length > 0 || hasRoomFor(hasLeft)) {
        // First those that were handed over start.
        await setImmediate();
        return true;
      }
      const rings = ringsWithRoom();
      const limit = Math.min(seconds, longestWait(rings));
      waitedFor = rings;
      try {
        if (rings.length > 0) return await waitForRings(rings, limit);
        await sleep(limit);
        return false;
      } finally {
        waitedFor = undefined;
      }
    },

    /** When a group is to be looked at that is not ready now, epoch ms; 0: there is none. */
    lookAgainAt: () => lookAgainAt,

    /** Reserves nothing more, and gives back what was not started. */
    stop,

    /** Goes on after a stop. */
    resume: () => {
      stopping = new AbortController();
    },
  };
}
