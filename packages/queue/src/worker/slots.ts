import { SLOW_FROM_MS } from '../groups/group-lua.ts';
import { EXPRESS, QUICK, RINGS, SLOW, SUSPECT, type Ring } from '../queue-keys.ts';

/** How a job ended for its group. `unsent`: nothing went out, which says nothing about the group. */
export type JobEnd = 'answered' | 'unanswered' | 'unsent';

/** A job in work in this process. */
export type Slot = {
  readonly group: string;
  readonly ring: Ring;
  /** To whom its group belongs; '' to nobody. */
  readonly tenant: string;
  readonly startedAt: number;
};

/** A number for each ring. */
export type PerRing = readonly [express: number, quick: number, suspect: number, slow: number];

/** Jobs that may be started now. */
export type Room = {
  readonly rings: PerRing;
  /** By ring, the tenants that get none of it, because what is left is kept for others; mostly none. */
  readonly withoutRoom: readonly (readonly string[])[];
  /** Whether quick groups should give one job a turn, because many keep this process waiting. */
  readonly isCautious: boolean;
};

const EXPRESS_SLOTS = 50;
/** Slow slots for each quick one: a job that waits for an answer costs memory, and hardly any processor time. */
const SLOW_PER_QUICK = 10;
/**
 * Jobs for each quick slot that may hold a slow slot beside those of slow groups, because they take long. Suspects get
 * no more. While there are more of quick groups, each of these groups gives one job a turn, and tenants that have many
 * such jobs get no quick slot.
 */
const LATE_PER_QUICK = 2;
/**
 * Suspect slots while this process is busy. Most suspects are new, and their connections cost more time than anything
 * else: ten at once keep all others waiting for 30 ms.
 */
const SUSPECTS_WHILE_BUSY = 4;
/**
 * Slots are kept for each quick one, beside those of suspect and of slow groups, for tenants that hold few in this
 * process. Whoever has many endpoints that hang or are slow holds all others for many seconds, and nobody else's would
 * get a delivery meanwhile.
 */
const KEPT_PER_QUICK = 1 / 10;
/** A job that takes so many times as long as usual makes its group suspect until it ends. */
const SUSPECT_FACTOR = 8;
const SUSPECT_AT_LEAST_MS = 100;
/** Groups whose usual duration is remembered. */
const REMEMBERED = 10_000;

export type SlotsOptions = {
  /** Slots of quick groups. */
  readonly concurrency: number;
  /** Monotonic ms. */
  readonly now: () => number;
  /** Whether this process has no time left. Default: it has. */
  readonly isBusy?: () => boolean;
};

/** The slots of each ring in a worker that is meant to have so many quick jobs in work. */
export function slotsFor(concurrency: number): PerRing {
  return [EXPRESS_SLOTS, concurrency, Math.max(1, Math.floor(concurrency / 2)), SLOW_PER_QUICK * concurrency];
}

/** A tenant that has so many jobs which take long holds many. */
function manyFor(concurrency: number): number {
  return Math.max(1, Math.floor(KEPT_PER_QUICK * concurrency));
}

function keptFor(concurrency: number): PerRing {
  return [0, 0, manyFor(concurrency), SLOW_PER_QUICK * manyFor(concurrency)];
}

/** The most jobs in work beside express ones and those in quick slots, without the slots that are kept. */
function mostOthers(concurrency: number): number {
  const [, , suspect, slow] = slotsFor(concurrency);
  return suspect + slow + LATE_PER_QUICK * concurrency - concurrency;
}

/** The most jobs in work at once in such a worker. */
export function mostInWork(concurrency: number): number {
  return sum(slotsFor(concurrency)) + LATE_PER_QUICK * concurrency + sum(keptFor(concurrency));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** The tenants that have at least so many of these jobs. */
function tenantsWith(least: number, jobs: Iterable<Slot>): readonly string[] {
  const counts = new Map<string, number>();
  for (const { tenant } of jobs) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  return [...counts].filter(([, count]) => count >= least).map(([tenant]) => tenant);
}

/**
 * Room for jobs in this process, by ring. Each ring has slots of its own. A slot is a number, and nothing of the job:
 * one that takes longer than a second holds a slow slot from then on, whatever ring it came from, and so do all jobs of
 * a quick group that keeps one waiting far longer than usual. So the slots of quick groups are never held for longer,
 * also by a group of which nobody knows yet that it is slow.
 */
export function createSlots({ concurrency, now, isBusy = () => false }: SlotsOptions) {
  const most = slotsFor(concurrency);
  const mostLate = LATE_PER_QUICK * concurrency;
  const many = manyFor(concurrency);
  const kept = keptFor(concurrency);
  /** Express and slow jobs, which keep the slots that they have. */
  const steady = new Map<Ring, Set<Slot>>([
    [EXPRESS, new Set()],
    [SLOW, new Set()],
  ]);
  /** The other jobs by group, the oldest first. */
  const busy = new Map<string, Set<Slot>>();
  /** Usual durations by group in ms, the longest unused first. */
  const usual = new Map<string, number>();
  let inWork = 0;

  /** When the group keeps a job waiting far longer than usual, by `now`. */
  const suspectAt = (group: string, slots: ReadonlySet<Slot>): number => {
    const oldest = slots.values().next().value;
    const longMs = Math.max(SUSPECT_AT_LEAST_MS, SUSPECT_FACTOR * (usual.get(group) ?? 0));
    return oldest === undefined ? Infinity : oldest.startedAt + longMs;
  };

  const learn = (group: string, tookMs: number): void => {
    const before = usual.get(group);
    usual.delete(group);
    usual.set(group, before === undefined ? tookMs : before + (tookMs - before) / 8);
    const longestUnused = usual.keys().next().value;
    if (usual.size > REMEMBERED && longestUnused !== undefined) usual.delete(longestUnused);
  };

  /** Jobs that hold the slots of each ring, and when the next of them holds another, by `now`. */
  const count = (at: number) => {
    const holding = RINGS.map((ring) => steady.get(ring)?.size ?? 0) as [number, number, number, number];
    const lateQuick: Slot[] = [];
    let lateSuspect = 0;
    let changesAt = Infinity;
    for (const [group, slots] of busy) {
      const isSuspectFrom = suspectAt(group, slots);
      for (const slot of slots) {
        const { ring, startedAt } = slot;
        const isLateFrom =
          ring === QUICK ? Math.min(isSuspectFrom, startedAt + SLOW_FROM_MS) : startedAt + SLOW_FROM_MS;
        if (at >= isLateFrom) {
          if (ring === QUICK) lateQuick.push(slot);
          else lateSuspect++;
        } else {
          holding[ring]++;
          changesAt = Math.min(changesAt, isLateFrom);
        }
      }
    }
    // Suspects that find no slow slot keep theirs. Those of quick groups never take a suspect one.
    const suspect = Math.min(lateSuspect, mostLate);
    holding[SLOW] += lateQuick.length + suspect;
    holding[SUSPECT] += lateSuspect - suspect;
    return { holding, lateQuick, changesAt };
  };

  const suspects = (): readonly Slot[] =>
    [...busy.values()].flatMap((slots) => [...slots].filter(({ ring }) => ring === SUSPECT));

  return {
    start(group: string, ring: Ring, tenant = ''): Slot {
      const slot: Slot = { group, ring, tenant, startedAt: now() };
      const slots = steady.get(ring) ?? busy.get(group) ?? new Set();
      slots.add(slot);
      if (!steady.has(ring)) busy.set(group, slots);
      inWork++;
      return slot;
    },

    end(slot: Slot, end: JobEnd): void {
      const slots = steady.get(slot.ring) ?? busy.get(slot.group);
      if (!slots?.delete(slot)) return;
      if (busy.get(slot.group)?.size === 0) busy.delete(slot.group);
      inWork--;
      if (end === 'answered') learn(slot.group, now() - slot.startedAt);
    },

    room(): Room {
      const { holding, lateQuick } = count(now());
      const free = (ring: Ring): number => most[ring] - holding[ring];
      const inAll = inWork - holding[EXPRESS];
      const quick = Math.min(free(QUICK), mostInWork(concurrency) - EXPRESS_SLOTS - inAll);

      const left = mostOthers(concurrency) - (inAll - holding[QUICK]);
      let usualLeft = left;
      // Two rings share what is kept, and one reserve serves both.
      const keptEach = Math.floor((sum(kept) + Math.min(0, left)) / 2);
      /** Jobs of everybody; while there is room for none, jobs of tenants that hold few. */
      const roomFor = (usualJobs: number, ofFew: number): { readonly jobs: number; readonly isKept: boolean } => {
        const jobs = Math.min(usualJobs, usualLeft);
        if (jobs <= 0) return { jobs: Math.max(0, Math.min(ofFew, keptEach)), isKept: true };
        usualLeft -= jobs;
        return { jobs, isKept: false };
      };
      const atOnce = isBusy() ? Math.min(most[SUSPECT], SUSPECTS_WHILE_BUSY) : most[SUSPECT];
      const keptSuspects = free(SUSPECT) + kept[SUSPECT];
      const suspect = roomFor(atOnce - holding[SUSPECT], isBusy() ? Math.min(keptSuspects, 1) : keptSuspects);
      // What is kept for slow groups is theirs, however many others take long.
      const slowJobs = steady.get(SLOW) ?? new Set();
      const slow = roomFor(free(SLOW), most[SLOW] + kept[SLOW] - slowJobs.size);

      const isCautious = lateQuick.length > mostLate || left <= 0;
      return {
        rings: [Math.max(0, free(EXPRESS)), Math.max(0, quick), suspect.jobs, slow.jobs],
        withoutRoom: [
          [],
          isCautious ? tenantsWith(many, lateQuick) : [],
          suspect.isKept ? tenantsWith(1, suspects()) : [],
          slow.isKept ? tenantsWith(many, slowJobs) : [],
        ],
        isCautious,
      };
    },

    /** How long until a ring gets room although no job ends, in ms; Infinity: it doesn't. */
    roomierInMs(): number {
      const at = now();
      return count(at).changesAt - at;
    },

    /** Groups of the quick ring that keep a job waiting far longer than usual. */
    findSuspects(): readonly string[] {
      const at = now();
      const isNew = (group: string, slots: ReadonlySet<Slot>) =>
        at >= suspectAt(group, slots) && [...slots].some(({ ring }) => ring === QUICK);
      return [...busy].filter(([group, slots]) => isNew(group, slots)).map(([group]) => group);
    },

    inWork: (): number => inWork,
  };
}
export type Slots = ReturnType<typeof createSlots>;

/** The event loop's share of time without a pause from which a process is busy. */
const BUSY_FROM = 0.9;
/** How often that is measured, in ms. */
const MEASURED_EVERY_MS = 50;

/** Whether this process is busy: its event loop has had hardly a pause lately. */
export function createBusyMeter(now: () => number = () => performance.now()): () => boolean {
  let before = performance.eventLoopUtilization();
  let measuredAt = now();
  let isBusy = false;
  return () => {
    if (now() - measuredAt < MEASURED_EVERY_MS) return isBusy;
    const current = performance.eventLoopUtilization();
    isBusy = performance.eventLoopUtilization(current, before).utilization >= BUSY_FROM;
    before = current;
    measuredAt = now();
    return isBusy;
  };
}
