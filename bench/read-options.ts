import { parseArgs } from 'node:util';
import { chooseVariants } from './isolation-variants.ts';

export const SCENARIO_NAMES = ['floor', 'drain', 'accept', 'isolation', 'slow-clients'] as const;
export type ScenarioName = (typeof SCENARIO_NAMES)[number];

export type BenchOptions = {
  readonly scenarios: readonly ScenarioName[];
  /** Deliveries of one drain, and items of one floor measurement. */
  readonly count: number;
  /** Rounds, of which the median is shown. */
  readonly repeats: number;
  /** Length of one run under load; undefined: as the scenario has it. */
  readonly seconds: number | undefined;
  /** Isolation variants; empty: all. */
  readonly variants: readonly string[];
  /** Has the processes write CPU profiles, and prints where the time went. It makes everything slower. */
  readonly profile: boolean;
};

export const USAGE = `npm run bench -- [${SCENARIO_NAMES.join('|')}]... [options]

  floor         BullMQ alone, the sender alone, node:https alone, and what the first two make together
  drain         pending deliveries for 50 fast receivers, sent by a real worker; its ratio to the floor (which it shows too)
  accept        transitions accepted per second, beside a bare Express route that runs one script
  isolation     healthy receivers beside bad ones
  slow-clients  healthy requests to the API beside slow and idle connections
  (none)        drain

  --count <n>      deliveries to drain (20000)
  --repeats <n>    rounds, of which the median is shown (3)
  --seconds <n>    length of one run: isolation (120), slow-clients (30)
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
