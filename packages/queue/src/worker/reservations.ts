import { setImmediate, setTimeout as pause } from 'node:timers/promises';
import { EXPRESS, QUICK, RINGS, SUSPECT, type Ring } from '../queue-keys.ts';
import { STALE_FROM_MS, type Reserve, type Reserved } from './reserve.ts';
import type { PerRing, Slot, Slots } from './slots.ts';

/** A reserved job and its slot in this process. */
export type Held = {
  readonly reserved: Reserved;
  readonly slot: Slot;
  /** The end of the lease as reserved, in Redis' time, epoch ms. */
  readonly leaseEndsAt: number;
};

export type ReservationsDeps = {
  readonly reserve: Reserve;
  readonly slots: Slots;
  /** Jobs in work that a group may have, over all workers. */
  readonly groupLimit: number;
  readonly leaseMs: number;
  /** Waits until one of the rings is marked, at most so many seconds. Resolves to whether one was. */
  readonly waitForRings: (rings: readonly Ring[], seconds: number) => Promise<boolean>;
  /** Marks a ring, which ends the wait of one who waits for it. */
  readonly mark: (ring: Ring) => Promise<unknown>;
  /** Gives back jobs that were never started. */
  readonly giveBack: (jobs: readonly Held[]) => Promise<void>;
  /** Unique among processes, without `|`. */
  readonly processId: string;
  /** Redis' time, epoch ms. */
  readonly now: () => number;
};

/**
 * Jobs that one reserve brings at most, by ring. Redis does nothing else meanwhile. With 10 or 12 a drain took a fifth
 * more processor time of the worker and of Redis: jobs that start together share writes, reads and scripts until they
 * end. Suspects and slow jobs mostly need connections of their own, and ten handshakes at once keep the event loop for
 * 30 ms. What starts together also ends together: beside fifty receivers that answer late, others waited for 37 ms in the
 * slowest hundredth with 25 slow jobs at a time, and for 18 with five.
 */
const MOST_RESERVED: PerRing = [25, 25, 3, 5];
/**
 * Of these, those that have waited for long, while they are a load of their ring beside others that come due. Whoever
 * comes due stands before them, so it waits for a few of them at most.
 */
const MOST_STALE_BESIDE_FRESH: PerRing = [25, 4, 1, 5];
/**
 * The rest of the suspect ring after such jobs: so much of the time that the event loop was busy since the last of them,
 * and so many ms at most. A handshake takes a processor longer than a delivery.
 */
const REST_SHARE = 1.5;
const LONGEST_REST_MS = 8;
/** How often the other rings are looked at while one rests, in ms. */
const LOOK_BESIDE_REST_MS = 4;
/** How long a job has been due that has just come due, at most, in ms. */
const FRESH_UNTIL_MS = 250;
/** How long it is remembered that one has just come due, in ms. */
const FRESH_REMEMBERED_MS = 1_000;
/** The weight of a job in its ring's share of those that have waited for long, and the share from which they are a load. */
const JOB_WEIGHT = 0.02;
const LOAD_FROM = 0.5;
/** How long to wait for a slot that becomes free without a job's end, at least and at most, in seconds. */
const LEAST_SECONDS = 0.005;
const LOOK_AGAIN_SECONDS = 0.1;
/** The part of its lease that a starting job must have left: it is renewed when half has passed since, at the latest. */
const LEFT_AT_START = 0.6;
/** The part of its leases that a failed reserve must have left to be repeated under its nonce. */
const LEFT_AT_REPEAT = 0.75;
/** What comes due within so many ms is looked at together. */
const LEAST_MARK_MS = 4;
/** A longer time is none for a timer of Node, and no wait is so long, in ms. */
const MOST_TIMER_MS = 60_000;
/** How often to look whether a paused queue goes on, in seconds. */
const PAUSED_SECONDS = 1;
/** How long to wait after a reserve failed, for example because Redis is out of memory, in seconds. */
const REFUSED_SECONDS = 0.5;

/**
 * Jobs on their way from Redis to BullMQ. BullMQ asks for one job at a time, and starts those that it has as soon as it
 * gets none. A reserve brings several. They are handed over one by one, and then the answer is "none" once, so that all
 * of them start.
 */
export function createReservations(deps: ReservationsDeps) {
  const { reserve, slots, groupLimit, leaseMs, waitForRings, mark, giveBack, processId, now } = deps;
  const buffer: Held[] = [];
  /** By ring, whether groups may be ready. Only a reserve can tell that none is. */
  let left: readonly boolean[] = RINGS.map(() => true);
  let lookAgainAt = 0;
  let reserves = 0;
  /** The reserve that has no reply yet, or failed. Its repeat brings the jobs that it may have reserved. */
  let unanswered: { readonly nonce: string; readonly leaseEndsAt: number } | undefined;
  let hasHandedOver = false;
  let isPaused = false;
  let stopping = new AbortController();
  /** Whether a wait has removed a mark and no reserve has followed: nobody else hears of what came due. */
  let hasMark = false;
  /** The rings that `wait` waits for right now. */
  let waitedFor: readonly Ring[] | undefined;
  let marking: NodeJS.Timeout | undefined;
  let underWay: Promise<void> | undefined;
  const pace = createPace();

  const isStopped = (): boolean => stopping.signal.aborted;

  /** Ends early on a stop. */
  const sleep = async (seconds: number): Promise<void> => {
    const { signal } = stopping;
    await pause(1_000 * seconds, undefined, { ref: false, signal }).catch(() => undefined);
  };

  const reserveOnce = async (): Promise<void> => {
    if (unanswered) await sleep(REFUSED_SECONDS);
    if (isStopped()) return;
    const at = now();
    const { rings: room, withoutRoom, isCautious } = slots.room();
    const rooms = RINGS.map((ring) => (pace.restMs(ring) > 0 ? 0 : Math.min(room[ring], MOST_RESERVED[ring])));
    const staleRooms = RINGS.map((ring) => pace.mostStale(ring, at));
    if (!unanswered || unanswered.leaseEndsAt - at < LEFT_AT_REPEAT * leaseMs)
      unanswered = { nonce: `${processId}${(reserves++).toString(36)}`, leaseEndsAt: at + leaseMs };
    const { nonce, leaseEndsAt } = unanswered;
    const suspects = slots.findSuspects();
    const groups = { groupLimit, suspects, withoutRoom, isCautious };
    const reply = await reserve({ now: at, leaseEndsAt, nonce, rooms, staleRooms, ...groups });
    unanswered = undefined;
    hasMark = false;
    isPaused = reply.kind === 'paused';
    left = reply.left;
    // A paused queue is looked at often anyway.
    lookAgainAt = isPaused ? 0 : reply.lookAgainAt;
    markWhenDue();
    pace.note(reply.jobs, at);
    for (const reserved of reply.jobs)
      buffer.push({ reserved, slot: slots.start(reserved.group, reserved.ring, reserved.tenant), leaseEndsAt });
    if (isStopped()) await stop();
  };

  /** The next job of the buffer. A job whose lease might end before it is renewed is given back. */
  const take = (): Held | undefined => {
    const late: Held[] = [];
    let next = buffer.shift();
    for (; next && next.leaseEndsAt - now() < LEFT_AT_START * leaseMs; next = buffer.shift()) {
      slots.end(next.slot, 'unsent');
      late.push(next);
    }
    // A job that can't be given back comes again when its lease ends.
    if (late.length > 0) void giveBack(late).catch(() => undefined);
    return next;
  };

  const takeOrReserve = async (): Promise<Held | undefined> => {
    const job = take();
    if (job) return job;
    // One reserve at a time: concurrent callers share its jobs.
    underWay ??= reserveOnce().finally(() => {
      underWay = undefined;
    });
    await underWay;
    return take();
  };

  /** In place of the reserve that must follow a mark: one that takes nothing, and wakes others for what is ready. */
  const passOnMark = async (): Promise<void> => {
    if (!hasMark) return;
    hasMark = false;
    const [at, nonce] = [now(), `${processId}${(reserves++).toString(36)}`];
    const rooms = RINGS.map(() => 0);
    const groups = { groupLimit, suspects: [], withoutRoom: [], isCautious: false };
    await reserve({ now: at, leaseEndsAt: at + leaseMs, nonce, rooms, ...groups });
  };

  /**
   * Has the wait that is under way end as soon as the next group comes due, also if a reserve has told of it meanwhile. Redis
   * by itself ends a wait up to 0.1 s late: it looks at the time when a command comes, or as often as its `hz` says.
   */
  const markWhenDue = (): void => {
    clearTimeout(marking);
    const ring = waitedFor?.[0];
    if (ring === undefined || lookAgainAt === 0) return;
    const inMs = Math.min(Math.max(LEAST_MARK_MS, lookAgainAt - now() + 1), MOST_TIMER_MS);
    // A mark that fails leaves it to Redis.
    marking = setTimeout(() => void mark(ring).catch(() => undefined), inMs);
  };

  const stop = async (): Promise<void> => {
    stopping.abort();
    const unstarted = buffer.splice(0);
    for (const { slot } of unstarted) slots.end(slot, 'unsent');
    if (unstarted.length > 0) await giveBack(unstarted);
  };

  /** Rings that are served now and have room for every group, and whether another has some that is kept for few. */
  const findRoom = (): { readonly rings: readonly Ring[]; readonly hasKept: boolean } => {
    const { rings: rooms, withoutRoom } = slots.room();
    const roomy = RINGS.filter((ring) => rooms[ring] > 0 && pace.restMs(ring) === 0 && (ring === EXPRESS || !isPaused));
    // Groups of tenants without room leave the quick ring. The others keep them: who gets room is looked for now and then.
    const isKept = (ring: Ring): boolean => ring !== QUICK && (withoutRoom[ring]?.length ?? 0) > 0;
    return { rings: roomy.filter((ring) => !isKept(ring)), hasKept: roomy.some(isKept) };
  };

  const hasRoomFor = (rings: (ring: Ring) => boolean): boolean => findRoom().rings.some(rings);

  /**
   * In seconds. No mark tells of the end of a pause, of a group that may have what is kept, or of a job that takes so long
   * that it leaves a quick or a suspect slot; that job may also start during the wait. A slow slot becomes free only when
   * a job ends, which is told of.
   */
  const longestWait = ({ rings, hasKept }: ReturnType<typeof findRoom>): number => {
    if (isPaused) return PAUSED_SECONDS;
    if (!hasKept && rings.includes(QUICK) && rings.includes(SUSPECT)) return Infinity;
    return Math.max(LEAST_SECONDS, Math.min(LOOK_AGAIN_SECONDS, slots.roomierInMs() / 1_000));
  };

  const hasLeft = (ring: Ring): boolean => left[ring] === true;

  /** The next job after another has ended. Also undefined where `wait` or BullMQ's next fetch gets the job. */
  const nextAfterEnd = async (): Promise<Held | undefined> => {
    const covered = waitedFor;
    if (buffer.length > 0 || !covered || !hasRoomFor((ring) => hasLeft(ring) || !covered.includes(ring))) return take();
    // Several jobs often end at once. One reserve then fills all their slots.
    await setImmediate();
    const job = await takeOrReserve();
    // The reserve may have been a concurrent caller's, made when there was less room.
    return job ?? (hasRoomFor(hasLeft) ? await takeOrReserve() : undefined);
  };

  return {
    /** The next job; undefined when none is due, or when BullMQ should first start those that it has. */
    async next(): Promise<Held | undefined> {
      if (isStopped()) {
        await passOnMark();
        return undefined;
      }
      // BullMQ's loop waits already, so this call comes from a job that has ended.
      if (waitedFor) return await nextAfterEnd();
      const job = hasHandedOver ? take() : await takeOrReserve();
      hasHandedOver = job !== undefined;
      return job;
    },

    nextAfterEnd,

    /** Waits for a job, at most so many seconds. Resolves to whether there may be one now. */
    async wait(seconds: number): Promise<boolean> {
      // A reserve must follow however the wait ends, because the wait may have removed a mark.
      hasHandedOver = false;
      // Before the look for room: a rest that ends in between is seen by one of the two.
      const restMs = pace.restMs(SUSPECT);
      if (unanswered || buffer.length > 0 || hasRoomFor(hasLeft)) {
        // The jobs handed over before start first.
        await setImmediate();
        return true;
      }
      // No mark would tell of the end of a rest, and Redis looks at the time of a wait too seldom.
      if (restMs > 0) {
        await sleep(Math.min(LOOK_BESIDE_REST_MS, restMs) / 1_000);
        return true;
      }
      const found = findRoom();
      const { rings } = found;
      const limit = Math.min(seconds, longestWait(found));
      waitedFor = rings;
      markWhenDue();
      try {
        if (rings.length > 0) hasMark = await waitForRings(rings, limit);
        else await sleep(limit);
        if (isStopped()) await passOnMark();
        return hasMark;
      } finally {
        clearTimeout(marking);
        waitedFor = undefined;
      }
    },

    /** When to look at the first group that is not ready now, epoch ms; 0: there is none. */
    lookAgainAt: () => lookAgainAt,

    /** Reserves nothing more, and gives back the jobs that were not started. */
    stop,

    /** Reserves again after a stop. What came due meanwhile has told nobody here. */
    resume: () => {
      stopping = new AbortController();
      left = RINGS.map(() => true);
    },
  };
}

/**
 * Where jobs that have waited for long are a load of a ring, beside others that come due, they go in small steps, and
 * suspects with rests between: a process and a Redis without a pause would keep the others waiting, however fair the turns
 * are. Alone, they go as fast as they can.
 */
function createPace() {
  const staleShares: [number, number, number, number] = [0, 0, 0, 0];
  let freshAt = -Infinity;
  /** As `performance.now()`. */
  let suspectsRestUntil = 0;
  /** What the event loop has done until the last suspects came. */
  let before = performance.eventLoopUtilization();
  const isBesideFresh = (ring: Ring, at: number): boolean =>
    staleShares[ring] >= LOAD_FROM && at - freshAt <= FRESH_REMEMBERED_MS;
  return {
    /** How much longer a ring rests, in whole ms, as timers count. */
    restMs: (ring: Ring): number =>
      ring === SUSPECT ? Math.max(0, Math.floor(suspectsRestUntil - performance.now())) : 0,
    /** How many jobs of a ring that have waited for long a reserve may bring. */
    mostStale: (ring: Ring, at: number): number =>
      (isBesideFresh(ring, at) ? MOST_STALE_BESIDE_FRESH : MOST_RESERVED)[ring],
    /** @param jobs of one reserve */
    note(jobs: readonly Reserved[], at: number): void {
      for (const { dueAt, ring } of jobs) {
        const waitedMs = at - dueAt;
        staleShares[ring] += JOB_WEIGHT * ((waitedMs >= STALE_FROM_MS ? 1 : 0) - staleShares[ring]);
        if (waitedMs <= FRESH_UNTIL_MS) freshAt = at;
      }
      if (!jobs.some(({ ring }) => ring === SUSPECT)) return;
      const { active } = performance.eventLoopUtilization(before);
      before = performance.eventLoopUtilization();
      if (isBesideFresh(SUSPECT, at))
        suspectsRestUntil = performance.now() + Math.min(LONGEST_REST_MS, REST_SHARE * active);
    },
  };
}
