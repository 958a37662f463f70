import { parseArgs } from 'node:util';
import { chooseVariants } from './isolation-variants.ts';
import { type Build, findBuildBeside, THIS_BUILD } from './start-herald.ts';

export type BenchOptions = {
  readonly scenarios: readonly ScenarioName[];
  /** This build, and the one to compare it with. */
  readonly builds: readonly Build[];
  /** Everything as short as possible: a check that it works, not a measurement. */
  readonly isQuick: boolean;
  /** Sizes from the command line; they replace those of every scenario. */
  readonly lengths: Partial<Lengths>;
  /** Variants of isolation; empty: all. */
  readonly variants: readonly string[];
  /** Writes CPU profiles of the processes, and prints where the time went. It makes everything slower. */
  readonly profile: boolean;
};

/** The scenarios, in the order in which they run. */
export const SCENARIO_NAMES = [
  'drain',
  'accept',
  'through',
  'latency',
  'memory',
  'isolation',
  'history',
  'history-load',
] as const;

/** Scenarios that can compare two builds. */
export const BESIDE_SCENARIOS: readonly ScenarioName[] = [
  'drain',
  'accept',
  'through',
  'latency',
  'memory',
  'isolation',
];

export const USAGE = `npm run bench -- [${SCENARIO_NAMES.join('|')}]... [options]

  drain         pending deliveries for 50 fast receivers, sent by a real worker; its ratio to its floor: BullMQ alone and the sender alone
  accept        transitions accepted per second, beside a bare Express route that runs one script
  through       accepted in batches or singly and delivered at the same time, to one receiver and to ten; CPU of all processes
  latency       from the 2xx of a transition to the arrival at the receiver, at 300 and 500 deliveries/s, and at 200/s over 50 receivers
  memory        bytes of Redis per pending and per settled delivery; growth of a worker while it delivers
  history       settled deliveries move to PostgreSQL: rate, CPU, disk, and reading among many
  history-load  500 deliveries/s with a history: latency beside that without, and Redis' memory in the course of time
  isolation     healthy receivers beside bad, late, many and dear neighbours
  (none)        all of them, which takes about an hour and a half

Ends with one table: measured values, floors, and whether the targets are met. Exits with 1 when a scenario failed, not when a target was missed.

  --beside <directory>  another built checkout, whose processes take turns with this one's in the same run; shows both and
                    their ratio (${BESIDE_SCENARIOS.join(', ')})
  --quick           everything as short as possible: a check that it works; a few minutes for all
  --count <n>       deliveries of one measurement: drain, memory, history (50000), through (30000)
  --repeats <n>     rounds, of which the median is shown (3)
  --seconds <n>     length of one run: history-load (300), isolation (120), latency (15)
  --deliveries <n>  memory: deliveries of the worker that is watched (1000000)
  --behind <n>      isolation: deliveries of another workspace that wait (1000000)
  --destinations <n>  isolation: hosts of another workspace with one waiting delivery each (20000)
  --rows <n>        history: deliveries of which a page is read (10000000)
  --variant <v>     isolation: this variant only, beside the run without neighbours; may be given several times
  --profile         drain, accept: write CPU profiles of worker and API, and print where the time went; latency: print
                    what the slowest hundredth waited for`;

/** The minimum of each option: below it there is nothing to measure. */
const LEAST: Lengths = {
  count: 100,
  repeats: 1,
  seconds: 5,
  deliveries: 1_000,
  behind: 1,
  destinations: 1,
  rows: 20_000,
};
const LENGTH_NAMES = Object.keys(LEAST) as (keyof Lengths)[];
const MOST = 10_000_000;

/** @throws Error with a sentence for the user */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      count: { type: 'string' },
      repeats: { type: 'string' },
      seconds: { type: 'string' },
      deliveries: { type: 'string' },
      behind: { type: 'string' },
      destinations: { type: 'string' },
      rows: { type: 'string' },
      beside: { type: 'string' },
      variant: { type: 'string', multiple: true, default: [] },
      quick: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
    },
  });
  chooseVariants(values.variant, { groups: 1, pending: 1 }); // an unknown one is told now, not after the scenarios before
  const scenarios = chooseScenarios(positionals, values.beside !== undefined);
  const beside = values.beside === undefined ? undefined : findBuildBeside(values.beside);
  const given = LENGTH_NAMES.flatMap((name) => {
    const text = values[name];
    return text === undefined ? [] : [[name, readCount(name, text)] as const];
  });
  return {
    scenarios,
    builds: beside === undefined ? [THIS_BUILD] : [THIS_BUILD, beside],
    isQuick: values.quick,
    lengths: Object.fromEntries(given),
    variants: values.variant,
    profile: values.profile,
  };
}

function chooseScenarios(texts: readonly string[], isBeside: boolean): readonly ScenarioName[] {
  if (texts.length === 0) return isBeside ? BESIDE_SCENARIOS : SCENARIO_NAMES;
  const unknown = texts.find((text) => !SCENARIO_NAMES.some((name) => name === text));
  if (unknown !== undefined) throw new Error(`there is no scenario ${unknown}; there are ${SCENARIO_NAMES.join(', ')}`);
  const alone = texts.find((text) => !BESIDE_SCENARIOS.some((name) => name === text));
  if (isBeside && alone !== undefined) {
    throw new Error(`${alone} measures this build alone; --beside knows ${BESIDE_SCENARIOS.join(', ')}`);
  }
  return SCENARIO_NAMES.filter((name) => texts.includes(name));
}

function readCount(option: keyof Lengths, text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= LEAST[option] && count <= MOST) return count;
  throw new Error(`--${option} must be a whole number from ${LEAST[option]} to ${MOST}, not ${text}`);
}

export type ScenarioName = (typeof SCENARIO_NAMES)[number];

/** The sizes of the scenarios. None uses all of them. */
export type Lengths = {
  /** Deliveries of one measurement, and items of its floor. */
  readonly count: number;
  /** Rounds, of which the median is shown. */
  readonly repeats: number;
  /** Duration of a run under load. */
  readonly seconds: number;
  /** Deliveries of the worker whose memory is watched. */
  readonly deliveries: number;
  /** Deliveries that wait in a variant of isolation. */
  readonly behind: number;
  /** Destinations with one waiting delivery each, in a variant of isolation. */
  readonly destinations: number;
  /** Deliveries in the history from which a page is read. */
  readonly rows: number;
};

const FULL: Lengths = {
  count: 20_000,
  repeats: 3,
  seconds: 15,
  deliveries: 1_000_000,
  behind: 1_000_000,
  destinations: 20_000,
  rows: 10_000_000,
};
const QUICK: Lengths = {
  count: 2_000,
  repeats: 1,
  seconds: 5,
  deliveries: 20_000,
  behind: 10_000,
  destinations: 2_000,
  rows: 100_000,
};

type Plan = { readonly full?: Partial<Lengths>; readonly minutes: number; readonly quickMinutes: number };

/** The sizes that the targets require, and how long they take on two dedicated cores. */
const PLANS: Record<ScenarioName, Plan> = {
  drain: { full: { count: 50_000 }, minutes: 4, quickMinutes: 0.4 },
  accept: { minutes: 3, quickMinutes: 1 },
  through: { full: { count: 30_000 }, minutes: 9, quickMinutes: 1 },
  latency: { minutes: 12, quickMinutes: 3 },
  memory: { full: { count: 50_000 }, minutes: 9, quickMinutes: 0.8 },
  isolation: { full: { seconds: 120 }, minutes: 45, quickMinutes: 8 },
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
