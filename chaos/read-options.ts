import { parseArgs } from 'node:util';
import { TOPOLOGIES, type TopologyKind } from '../tests/support/start-topology.ts';

export type ChaosOptions = {
  /** Duration of the faults in each run; recovery comes on top. */
  readonly seconds: number;
  /** One run for each seed, one after the other. */
  readonly seeds: readonly number[];
  /** By default the seed chooses. */
  readonly topology?: TopologyKind;
  /** By default the seed chooses. */
  readonly history?: boolean;
  /** Prints the plan, and ends. */
  readonly plan: boolean;
};

export const USAGE = `npm run chaos -- [options]

  --seconds <n>      duration of the faults (60); recovery comes on top
  --seed <n>         decides the faults and their times (random, and printed); may be repeated
  --seeds <a>-<b>    one run after the other, with a summary at the end
  --topology <name>  ${TOPOLOGIES.join(', ')}; without it the seed chooses
  --history          with a history (PostgreSQL) and its faults, --no-history without; otherwise the seed chooses
  --plan             print the faults, and end`;

const LARGEST_SEED = 2 ** 32 - 1;
const MOST_SEEDS = 1_000;

/** @throws Error with a sentence for the user */
export function readOptions(args: readonly string[], drawnSeed: number): ChaosOptions {
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', multiple: true, default: [] },
      seeds: { type: 'string' },
      topology: { type: 'string' },
      history: { type: 'boolean' },
      plan: { type: 'boolean', default: false },
    },
  });
  const seeds = [
    ...values.seed.map((text) => readWhole('seed', text, 0, LARGEST_SEED)),
    ...(values.seeds === undefined ? [] : readRange(values.seeds)),
  ];
  return {
    seconds: readWhole('seconds', values.seconds, 5, 86_400),
    seeds: seeds.length === 0 ? [drawnSeed] : seeds,
    ...(values.topology !== undefined && { topology: readTopology(values.topology) }),
    ...(values.history !== undefined && { history: values.history }),
    plan: values.plan,
  };
}

function readRange(text: string): number[] {
  const [, first = '', last = ''] = /^(\d+)-(\d+)$/.exec(text) ?? [];
  if (first === '') throw new Error(`--seeds must be a range such as 1-20, not ${text}`);
  const from = readWhole('seeds', first, 0, LARGEST_SEED);
  const to = readWhole('seeds', last, from, Math.min(LARGEST_SEED, from + MOST_SEEDS - 1));
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

function readTopology(text: string): TopologyKind {
  const topology = TOPOLOGIES.find((known) => known === text);
  if (topology) return topology;
  throw new Error(`--topology must be one of ${TOPOLOGIES.join(', ')}, not ${text}`);
}

function readWhole(option: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (text.trim() !== '' && Number.isInteger(number) && number >= least && number <= most) return number;
  throw new Error(`--${option} must be a whole number from ${least} to ${most}, not ${text}`);
}
