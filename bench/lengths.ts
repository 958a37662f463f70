import type { ScenarioName } from './scenario-names.ts';

/** The sizes of the scenarios. None uses all of them. */
export type Lengths = {
  /** Deliveries of one measurement, and items of one of the floor. */
  readonly count: number;
  /** Rounds, of which the median is shown. */
  readonly repeats: number;
  /** Duration of a run under load. */
  readonly seconds: number;
  /** Deliveries of the worker whose memory is watched. */
  readonly deliveries: number;
  /** Registered receivers in the largest variant of growth. */
  readonly receivers: number;
  /** Delayed deliveries that are held in a variant of growth; deliveries that wait in one of isolation. */
  readonly behind: number;
  /** Destinations with one waiting delivery each, in the last variant of growth and in one of isolation. */
  readonly destinations: number;
  /** Deliveries in the history from which a page is read. */
  readonly rows: number;
};

const FULL: Lengths = {
  count: 20_000,
  repeats: 3,
  seconds: 15,
  deliveries: 1_000_000,
  receivers: 100_000,
  behind: 1_000_000,
  destinations: 100_000,
  rows: 10_000_000,
};
const QUICK: Lengths = {
  count: 2_000,
  repeats: 1,
  seconds: 5,
  deliveries: 20_000,
  receivers: 10_000,
  behind: 10_000,
  destinations: 2_000,
  rows: 100_000,
};

type Plan = { readonly full?: Partial<Lengths>; readonly minutes: number; readonly quickMinutes: number };

/** The sizes that the targets require, and how long they take on two dedicated cores. */
const PLANS: Record<ScenarioName, Plan> = {
  floor: { minutes: 2, quickMinutes: 0.3 },
  drain: { full: { count: 50_000 }, minutes: 4, quickMinutes: 0.4 },
  accept: { minutes: 3, quickMinutes: 1 },
  through: { full: { count: 30_000 }, minutes: 6, quickMinutes: 0.7 },
  latency: { minutes: 9, quickMinutes: 2.3 },
  order: { full: { seconds: 60 }, minutes: 4, quickMinutes: 1.5 },
  memory: { full: { count: 50_000 }, minutes: 9, quickMinutes: 0.8 },
  growth: { full: { count: 30_000, repeats: 5 }, minutes: 14, quickMinutes: 1 },
  scale: { full: { repeats: 2 }, minutes: 2.5, quickMinutes: 0.7 },
  isolation: { full: { seconds: 120, destinations: 20_000 }, minutes: 45, quickMinutes: 8 },
  'slow-clients': { full: { seconds: 30 }, minutes: 5, quickMinutes: 2 },
  console: { full: { seconds: 60 }, minutes: 3, quickMinutes: 1 },
  listen: { minutes: 3, quickMinutes: 0.6 },
  reporter: { full: { count: 20_000 }, minutes: 1.5, quickMinutes: 0.3 },
  history: { full: { count: 50_000 }, minutes: 8, quickMinutes: 0.3 },
  'history-load': { full: { seconds: 300 }, minutes: 13, quickMinutes: 3 },
};

export function lengthsOf(name: ScenarioName, isQuick: boolean): Lengths {
  return isQuick ? QUICK : { ...FULL, ...PLANS[name].full };
}

/** Estimated duration of the scenarios, in minutes. */
export function guessMinutes(names: readonly ScenarioName[], isQuick: boolean): number {
  const minutes = names.map((name) => (isQuick ? PLANS[name].quickMinutes : PLANS[name].minutes));
  return minutes.reduce((sum, each) => sum + each, 0);
}
