import { parseArgs } from 'node:util';
import { chooseVariants } from './isolation-variants.ts';

export const SCENARIO_NAMES = [
  'floor',
  'drain',
  'accept',
  'through',
  'latency',
  'memory',
  'growth',
  'isolation',
  'slow-clients',
] as const;
export type ScenarioName = (typeof SCENARIO_NAMES)[number];

export type BenchOptions = {
  readonly scenarios: readonly ScenarioName[];
  /** Deliveries of one measurement, and items of one of the floor. */
  readonly count: number;
  /** Rounds, of which the median is shown. */
  readonly repeats: number;
  /** Length of one run under load; undefined: as the scenario has it. */
  readonly seconds: number | undefined;
  /** Registered receivers in the largest variant of growth; undefined: as it has it. */
  readonly receivers: number | undefined;
  /** Delayed deliveries behind, in its last variant; undefined: as it has it. */
  readonly behind: number | undefined;
  /** Isolation variants; empty: all. */
  readonly variants: readonly string[];
  /** Has the processes write CPU profiles, and prints where the time went. It makes everything slower. */
  readonly profile: boolean;
};

export const USAGE = `npm run bench -- [${SCENARIO_NAMES.join('|')}]... [options]

  floor         BullMQ alone, the sender alone, node:https alone, and what the first two make together
  drain         pending deliveries for 50 fast receivers, sent by a real worker; its ratio to the floor (which it shows too)
  accept        transitions accepted per second, beside a bare Express route that runs one script
  through       accepted in batches and delivered at the same time, ten receivers
  latency       from the 2xx of a transition to the arrival at the receiver, at 500 deliveries/s
  memory        bytes of Redis for each pending delivery; what a worker grows by while it delivers
  growth        accept and drain with few and many receivers registered, and with many delayed deliveries behind
  isolation     healthy receivers beside bad ones
  slow-clients  healthy requests to the API beside slow and idle connections
  (none)        drain

  --count <n>      deliveries of one measurement: drain, through, memory, growth (20000)
  --repeats <n>    rounds, of which the median is shown (3)
  --seconds <n>    length of one run: isolation (120), slow-clients (30), latency (15)
  --receivers <n>  growth: most receivers registered (100000)
  --behind <n>     growth: delayed deliveries behind (1000000)
  --variant <v>    isolation: this variant only, beside the healthy run; may be given several times
  --profile        write CPU profiles of worker and API, and print where the time went`;

/** @throws Error with a sentence for whoever typed it */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      count: { type: 'string', default: '20000' },
      repeats: { type: 'string', default: '3' },
      seconds: { type: 'string' },
      receivers: { type: 'string' },
      behind: { type: 'string' },
      variant: { type: 'string', multiple: true, default: [] },
      profile: { type: 'boolean', default: false },
    },
  });
  chooseVariants(values.variant); // an unknown one is told now, not after the scenarios before
  return {
    scenarios: positionals.length === 0 ? ['drain'] : positionals.map(readScenario),
    count: readCount('count', values.count, 100),
    repeats: readCount('repeats', values.repeats, 1),
    seconds: values.seconds === undefined ? undefined : readCount('seconds', values.seconds, 5),
    receivers: values.receivers === undefined ? undefined : readCount('receivers', values.receivers, 10),
    behind: values.behind === undefined ? undefined : readCount('behind', values.behind, 1),
    variants: values.variant,
    profile: values.profile,
  };
}

function readScenario(text: string): ScenarioName {
  const name = SCENARIO_NAMES.find((known) => known === text);
  if (name === undefined) throw new Error(`there is no scenario ${text}; there are ${SCENARIO_NAMES.join(', ')}`);
  return name;
}

function readCount(option: string, text: string, least: number): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= least && count <= 10_000_000) return count;
  throw new Error(`--${option} must be a whole number of at least ${least}, not ${text}`);
}
