import type { Ring } from '../queue-keys.ts';

/** How a job ended, as far as its group is concerned. `unsent`: nothing went out, and that says nothing. */
export type JobEnd = 'answered' | 'unanswered' | 'unsent';

/** A job in work in this process. */
export type Slot = { readonly group: string; readonly ring: Ring; readonly startedAt: number };

export type SlotsOptions = {
  /** Jobs that the worker is meant to have in work. */
  readonly concurrency: number;
  /** Monotonic ms. */
  readonly now: () => number;
};

/**
 * Room for jobs in this process, by ring. Sound groups have as much as the worker is meant for, suspect ones together half of that, express
 * ones some of their own. A group that keeps a job waiting far longer than it usually takes counts as suspect while that lasts: its
 * jobs then leave room for those of others, up to twice the concurrency in all.
 */
export type Slots = {
  readonly start: (group: string, ring: Ring) => Slot;
  readonly end: (slot: Slot, end: JobEnd) => void;
  /** Jobs that may be started now, by ring. */
  readonly rooms: () => readonly [number, number, number];
  /** Groups of the sound ring that keep their jobs waiting far longer than usual. */
  readonly findSlow: () => readonly string[];
  readonly inWork: () => number;
};

export const EXPRESS_SLOTS = 50;
/** A job that takes so many times as long as usual makes its group suspect while it lasts. */
const SLOW_FACTOR = 8;
const SLOW_AT_LEAST_MS = 100;
/** Groups without a job in work whose usual time is remembered. */
const REMEMBERED = 10_000;

type State = { readonly slots: Set<Slot>; usualMs: number };

export function createSlots({ concurrency, now }: SlotsOptions): Slots {
  const half = Math.max(1, Math.floor(concurrency / 2));
  const busy = new Map<string, State>();
  /** Usual times of groups, the longest unused first. */
  const usual = new Map<string, number>();
  let inWork = 0;

  const isSlow = ({ slots, usualMs }: State, at: number): boolean => {
    const oldest = slots.values().next().value;
    return oldest !== undefined && at - oldest.startedAt > Math.max(SLOW_AT_LEAST_MS, SLOW_FACTOR * usualMs);
  };

  const remember = (group: string, { usualMs }: State) => {
    usual.delete(group);
    usual.set(group, usualMs);
    const oldest = usual.keys().next().value;
    if (usual.size > REMEMBERED && oldest !== undefined) usual.delete(oldest);
  };

  /** Jobs in work by ring, as their groups behave now. */
  const count = (at: number): [number, number, number] => {
    const counts: [number, number, number] = [0, 0, 0];
    for (const state of busy.values()) {
      const slow = isSlow(state, at);
      for (const { ring } of state.slots) counts[ring === 1 && slow ? 2 : ring]++;
    }
    return counts;
  };

  return {
    start(group, ring) {
      const slot: Slot = { group, ring, startedAt: now() };
      const state = busy.get(group) ?? { slots: new Set(), usualMs: usual.get(group) ?? 0 };
      state.slots.add(slot);
      busy.set(group, state);
      inWork++;
      return slot;
    },
    end(slot, end) {
      const state = busy.get(slot.group);
      if (!state?.slots.delete(slot)) return;
      inWork--;
      if (end === 'answered') {
        const tookMs = now() - slot.startedAt;
        state.usualMs = state.usualMs === 0 ? tookMs : state.usualMs + (tookMs - state.usualMs) / 8;
      }
      if (state.slots.size > 0) return;
      busy.delete(slot.group);
      remember(slot.group, state);
    },
    rooms() {
      const [express, sound, suspect] = count(now());
      const inAll = 2 * concurrency - sound - suspect;
      return [
        EXPRESS_SLOTS - express,
        Math.max(0, Math.min(concurrency - sound, inAll)),
        Math.max(0, Math.min(half - suspect, inAll)),
      ];
    },
    findSlow() {
      const at = now();
      const slow: string[] = [];
      for (const [group, state] of busy) {
        const hasSound = [...state.slots].some(({ ring }) => ring === 1);
        if (hasSound && isSlow(state, at)) slow.push(group);
      }
      return slow;
    },
    inWork: () => inWork,
  };
}
