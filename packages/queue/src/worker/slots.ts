import type { Ring } from '../queue-keys.ts';

/** How a job ended for its group. `unsent`: nothing went out, which says nothing about the group. */
export type JobEnd = 'answered' | 'unanswered' | 'unsent';

/** A job in work in this process. */
export type Slot = { readonly group: string; readonly ring: Ring; readonly startedAt: number };

export const EXPRESS_SLOTS = 50;
/** A job that takes so many times as long as usual makes its group suspect until it ends. */
const SLOW_FACTOR = 8;
const SLOW_AT_LEAST_MS = 100;
/** Groups without a job in work whose usual duration is remembered. */
const REMEMBERED = 10_000;

type State = { readonly slots: Set<Slot>; usualMs: number };

/**
 * Room for jobs in this process, by ring. Sound groups together get `concurrency` slots, suspect groups half of that,
 * and express groups slots of their own. A group that keeps a job waiting far longer than usual counts as suspect while
 * that lasts, so that its jobs leave room for those of other groups. Sound and suspect groups together get at most
 * twice `concurrency`.
 * @param concurrency jobs that the worker is meant to have in work
 * @param now monotonic ms
 */
export function createSlots({ concurrency, now }: { readonly concurrency: number; readonly now: () => number }) {
  const half = Math.max(1, Math.floor(concurrency / 2));
  const busy = new Map<string, State>();
  /** Usual durations by group, the longest unused first. */
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

  /** Jobs in work by ring; the jobs of slow groups count as suspect. */
  const count = (at: number): [number, number, number] => {
    const counts: [number, number, number] = [0, 0, 0];
    for (const state of busy.values()) {
      const slow = isSlow(state, at);
      for (const { ring } of state.slots) counts[ring === 1 && slow ? 2 : ring]++;
    }
    return counts;
  };

  return {
    start(group: string, ring: Ring): Slot {
      const slot: Slot = { group, ring, startedAt: now() };
      const state = busy.get(group) ?? { slots: new Set(), usualMs: usual.get(group) ?? 0 };
      state.slots.add(slot);
      busy.set(group, state);
      inWork++;
      return slot;
    },
    end(slot: Slot, end: JobEnd): void {
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
    /** Jobs that may be started now, by ring. */
    rooms(): readonly [number, number, number] {
      const [express, sound, suspect] = count(now());
      const inAll = 2 * concurrency - sound - suspect;
      return [
        EXPRESS_SLOTS - express,
        Math.max(0, Math.min(concurrency - sound, inAll)),
        Math.max(0, Math.min(half - suspect, inAll)),
      ];
    },
    /** Groups of the sound ring that keep a job waiting far longer than usual. */
    findSlow(): readonly string[] {
      const at = now();
      const isSlowAndSound = (state: State) => isSlow(state, at) && [...state.slots].some(({ ring }) => ring === 1);
      return [...busy].filter(([, state]) => isSlowAndSound(state)).map(([group]) => group);
    },
    inWork: (): number => inWork,
  };
}
export type Slots = ReturnType<typeof createSlots>;
