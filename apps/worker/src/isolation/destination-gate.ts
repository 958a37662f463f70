import type { DestinationId } from '@herald/core';

export type DestinationGateOptions = {
  /** Sends in flight that the whole worker is meant for (`CONCURRENCY`). */
  readonly concurrency: number;
  /** Sends in flight that one destination may have at most (`DESTINATION_CONCURRENCY`). */
  readonly share: number;
  /** Monotonic ms. */
  readonly now: () => number;
};

/** How a send ended, as far as its destination is concerned. `unsent`: nothing went out. */
export type SendEnd = 'answered' | 'unanswered' | 'unsent';

/** A send in flight. */
export type Pass = { readonly destination: DestinationId; readonly startedAt: number };

/**
 * Who may send in this worker, so that no destination holds up another. Counted in the process: a count in Redis would
 * leak when a worker is killed.
 *
 * A destination has its share: halved by every send without an answer, raised by every answer. One that has not answered
 * yet, has failed lately, or keeps a send waiting far longer than it usually takes is doubtful; all doubtful ones
 * together get half of the concurrency, so that however many die at once, the other half still flows.
 */
export type DestinationGate = {
  /** Undefined when there is no room; then `onRoom` tells when it is worth to ask again, at the latest when its own sends end. */
  readonly enter: (destination: DestinationId) => Pass | undefined;
  readonly leave: (pass: Pass, end: SendEnd) => void;
  readonly inFlight: () => number;
};

type State = {
  readonly passes: Set<Pass>;
  share: number;
  hasAnswered: boolean;
  /** Until when a failure is held against it. */
  doubtfulUntil: number;
  /** Moving average of its answers, in ms. */
  usualMs: number;
  usedAt: number;
  /** Refused for its own sends in flight. */
  wasRefused: boolean;
};

/** A send without an answer makes its destination doubtful for so long, in ms. */
const DOUBT_MS = 60_000;
/** A send that takes so many times as long as usual makes its destination doubtful while it lasts. */
const SLOW_FACTOR = 8;
const SLOW_AT_LEAST_MS = 100;
/** What is remembered of destinations without a send in flight. */
const REMEMBERED = 10_000;

export function createDestinationGate(
  { concurrency, share: fullShare, now }: DestinationGateOptions,
  onRoom: (destination: DestinationId) => void,
): DestinationGate {
  const states = new Map<DestinationId, State>();
  /** Destinations that were refused for the others' sake, in the order in which they asked. */
  const waiting = new Set<DestinationId>();
  const half = Math.max(1, Math.floor(concurrency / 2));
  let inFlight = 0;

  const stateOf = (id: DestinationId): State => {
    const known = states.get(id);
    if (known) return known;
    if (states.size >= REMEMBERED) forgetIdle(states);
    const fresh: State = {
      ...{ passes: new Set(), share: fullShare, hasAnswered: false, doubtfulUntil: 0 },
      ...{ usualMs: 0, usedAt: now(), wasRefused: false },
    };
    states.set(id, fresh);
    return fresh;
  };

  const isDoubtful = (state: State, at: number): boolean => {
    if (!state.hasAnswered || state.doubtfulUntil > at) return true;
    const oldest = state.passes.values().next().value;
    return oldest !== undefined && at - oldest.startedAt > Math.max(SLOW_AT_LEAST_MS, SLOW_FACTOR * state.usualMs);
  };

  /** Sends in flight of all doubtful destinations. Those with sends in flight are few: at most the concurrency. */
  const countDoubtful = (at: number): number => {
    let count = 0;
    for (const state of busy) if (isDoubtful(state, at)) count += state.passes.size;
    return count;
  };
  const busy = new Set<State>();

  return {
    enter(destination) {
      const at = now();
      const state = stateOf(destination);
      const isWithinShare = state.passes.size < state.share;
      const doubtful = isDoubtful(state, at);
      // Beyond its share a sound destination may use what is idle.
      if (!isWithinShare && (doubtful || inFlight >= half)) {
        state.wasRefused = true;
        return undefined;
      }
      if (doubtful ? countDoubtful(at) >= half : inFlight >= 2 * concurrency) {
        waiting.add(destination);
        return undefined;
      }
      const pass: Pass = { destination, startedAt: at };
      state.passes.add(pass);
      state.usedAt = at;
      busy.add(state);
      waiting.delete(destination);
      inFlight++;
      return pass;
    },
    leave(pass, end) {
      const state = states.get(pass.destination);
      if (!state?.passes.delete(pass)) return;
      inFlight--;
      if (state.passes.size === 0) busy.delete(state);
      const at = now();
      if (end === 'answered') {
        const tookMs = at - pass.startedAt;
        state.usualMs = state.hasAnswered ? state.usualMs + (tookMs - state.usualMs) / 8 : tookMs;
        state.hasAnswered = true;
        state.share = Math.min(fullShare, state.share + 1);
        state.doubtfulUntil = 0;
      } else if (end === 'unanswered') {
        state.share = Math.max(1, Math.floor(state.share / 2));
        state.doubtfulUntil = at + DOUBT_MS;
      }
      if (state.wasRefused) {
        state.wasRefused = false;
        onRoom(pass.destination);
      }
      const next = waiting.values().next().value;
      if (next !== undefined) {
        waiting.delete(next);
        onRoom(next);
      }
    },
    inFlight: () => inFlight,
  };
}

/** Forgets the half of the destinations that was not used for longest; none with a send in flight. */
function forgetIdle(states: Map<DestinationId, State>): void {
  const idle = [...states].filter(([, { passes }]) => passes.size === 0).sort(([, a], [, b]) => a.usedAt - b.usedAt);
  for (const [id] of idle.slice(0, REMEMBERED / 2)) states.delete(id);
}
