import type { ScenarioName } from './options.ts';
import type { Build } from './start-herald.ts';
import { type Cell, median, type Table } from './table.ts';

/** A condition for a measured value, or for its ratio to the floor of the same run. */
type Limit = { readonly of: 'measured' | 'ratio' } & (
  | { readonly least: number }
  | { readonly most: number }
  | { readonly below: number }
);
type Target = { readonly words: string; readonly limits: readonly Limit[] };

/** Every target, with its number. */
export const TARGETS = {
  drain: { words: 'at least 0.65 of the composed floor, towards 0.80', limits: [{ of: 'ratio', least: 0.65 }] },
  acceptSingle: { words: 'at least 0.5 of the bare route', limits: [{ of: 'ratio', least: 0.5 }] },
  acceptBatched: { words: 'at least 5 times single', limits: [{ of: 'ratio', least: 5 }] },
  through: { words: 'at least 3,000', limits: [{ of: 'measured', least: 3_000 }] },
  latencyP50: { words: 'at most 3 ms', limits: [{ of: 'measured', most: 3 }] },
  latencyP99: { words: 'at most 20 ms', limits: [{ of: 'measured', most: 20 }] },
  latencySpreadP99: { words: 'at most 12 ms', limits: [{ of: 'measured', most: 12 }] },
  pendingBytes: { words: 'at most 520', limits: [{ of: 'measured', most: 520 }] },
  settledBytes: { words: 'at most 400', limits: [{ of: 'measured', most: 400 }] },
  workerGrowth: { words: 'less than 10 % above half', limits: [{ of: 'ratio', below: 1.1 }] },
  isolationP99: {
    words: 'at most 50 ms, and 3 times the healthy run',
    limits: [
      { of: 'measured', most: 50 },
      { of: 'ratio', most: 3 },
    ],
  },
  neighbourP99: {
    words: 'at most 25 ms, and 1.5 times the run without',
    limits: [
      { of: 'measured', most: 25 },
      { of: 'ratio', most: 1.5 },
    ],
  },
  neighbourShare: { words: 'at least 0.9', limits: [{ of: 'measured', least: 0.9 }] },
  isolationLeftOver: { words: 'none', limits: [{ of: 'measured', most: 0 }] },
  isolationCpu: { words: 'at most 1.5 times the healthy run', limits: [{ of: 'ratio', most: 1.5 }] },
  historyMoved: { words: 'at least 5,000', limits: [{ of: 'measured', least: 5_000 }] },
  historyCpu: { words: 'at most 80 µs', limits: [{ of: 'measured', most: 80 }] },
  historyBytes: { words: 'at most 600', limits: [{ of: 'measured', most: 600 }] },
  historyLatency: { words: 'at most 10 % more than without', limits: [{ of: 'ratio', most: 1.1 }] },
  historyGrowth: { words: 'at most 5 % more than after a fifth', limits: [{ of: 'ratio', most: 1.05 }] },
  historyPage: { words: 'at most 20 ms', limits: [{ of: 'measured', most: 20 }] },
  always: { words: 'at most 1.2 times as long as everysec', limits: [{ of: 'ratio', least: 1 / 1.2 }] },
  // Compared with an older build, the ratio refers to that build.
  singleCpu1: { words: 'at most 0.80', limits: [{ of: 'ratio', most: 0.8 }] },
  singleCpu10: { words: 'at most 0.85', limits: [{ of: 'ratio', most: 0.85 }] },
  singleRate1: { words: 'at least 1.25', limits: [{ of: 'ratio', least: 1.25 }] },
  singleRate10: { words: 'at least 1.15', limits: [{ of: 'ratio', least: 1.15 }] },
  drainBeside: { words: 'at least 1.15', limits: [{ of: 'ratio', least: 1.15 }] },
  latencyP50Beside: { words: 'at most 1.0', limits: [{ of: 'ratio', most: 1 }] },
  latencyP99Beside: { words: 'at most 0.6', limits: [{ of: 'ratio', most: 0.6 }] },
  acceptCpuBeside: { words: 'at most 1.0', limits: [{ of: 'ratio', most: 1 }] },
} satisfies Record<string, Target>;

export type TargetName = keyof typeof TARGETS;

/** A measured value and its target. NaN: there is none. */
export type TargetRow = {
  readonly row: string;
  readonly measured: number;
  readonly floor: number;
  readonly ratio: number;
  readonly target: string;
  readonly isMet: boolean;
};

/** A value and its floor of the same round. */
export type Paired = { readonly measured: number; readonly floor: number };

/** Medians of the rounds. The ratio is the median of the rounds' ratios, since rounds differ more than their ratios. */
function medianOfRounds(rounds: readonly Paired[]): Pick<TargetRow, 'measured' | 'floor' | 'ratio'> {
  const measured = median(rounds.map((round) => round.measured));
  const floor = median(rounds.map((round) => round.floor));
  const ratio = median(rounds.map((round) => round.measured / round.floor));
  return { measured, floor, ratio };
}

export function judgeRounds(target: TargetName, row: string, rounds: readonly Paired[]): TargetRow {
  const { measured, floor, ratio } = medianOfRounds(rounds);
  const { words, limits }: Target = TARGETS[target];
  const isMet = limits.every((limit) => holds(limit, limit.of === 'ratio' ? ratio : measured));
  return { row, measured, floor, ratio, target: words, isMet };
}

export function judgeOnce(target: TargetName, row: string, measured: number, floor = NaN): TargetRow {
  return judgeRounds(target, row, [{ measured, floor }]);
}

/** A value that couldn't be measured meets no target. */
function holds(limit: Limit, value: number): boolean {
  if ('least' in limit) return value >= limit.least;
  return 'most' in limit ? value <= limit.most : value < limit.below;
}

type AcceptRates = Readonly<Record<'bare' | 'single' | 'batch', number>>;

/** @param rounds transitions/s */
export function judgeAccept(fanOut: number, rounds: readonly AcceptRates[]): TargetRow[] {
  const pair = (of: keyof AcceptRates, to: keyof AcceptRates) =>
    rounds.map((round) => ({ measured: round[of], floor: round[to] }));
  return [
    judgeRounds('acceptSingle', `accept: single, fan-out ${fanOut}, transitions/s`, pair('single', 'bare')),
    judgeRounds('acceptBatched', `accept: batches, fan-out ${fanOut}, transitions/s`, pair('batch', 'single')),
  ];
}

type HistoryFigures = Readonly<Record<'perSecond' | 'cpuUs' | 'bytes' | 'pageMs', number>>;

export function judgeHistory({ perSecond, cpuUs, bytes, pageMs }: HistoryFigures): TargetRow[] {
  return [
    judgeOnce('historyMoved', 'history: moved, deliveries/s', perSecond),
    judgeOnce('historyCpu', 'history: CPU of the worker for each, µs', cpuUs),
    judgeOnce('historyBytes', 'history: disk for each, bytes', bytes),
    judgeOnce('historyPage', 'history: first page of a receiver, slowest, ms', pageMs),
  ];
}

/** A run with faults, and one of its values. */
type NamedValue = { readonly name: string; readonly value: number };

/** The worst of several runs counts, with the highest value. Undefined without runs. */
export function judgeWorst(target: TargetName, label: string, runs: readonly NamedValue[], floor = NaN): TargetRow[] {
  const [first, ...others] = runs;
  if (!first) return [];
  const worst = others.reduce((most, run) => (run.value > most.value || Number.isNaN(run.value) ? run : most), first);
  return [judgeOnce(target, `${label}, worst of ${runs.length} (${worst.name})`, worst.value, floor)];
}

type IsolationRun = {
  readonly name: string;
  readonly figures: Readonly<Record<'p99Ms' | 'reportP99Ms' | 'undelivered' | 'workerCpu' | 'redisCpu', number>> & {
    readonly slowShare?: number;
  };
};

/** Runs beside bad receivers. The first run is the healthy one. */
export function judgeIsolation(runs: readonly IsolationRun[]): TargetRow[] {
  const judge = judgeBeside(runs);
  return [
    ...judge('isolationP99', 'healthy p99 ms', 'p99Ms'),
    ...judge('isolationLeftOver', 'healthy deliveries left over', 'undelivered'),
    ...judge('isolationCpu', 'worker CPU s/min', 'workerCpu'),
    ...judge('isolationCpu', 'Redis CPU s/min', 'redisCpu'),
  ];
}

/** Runs beside neighbours that are late, many or dear. The first run is the one without. */
export function judgeNeighbours(runs: readonly IsolationRun[]): TargetRow[] {
  const judge = judgeBeside(runs);
  const [least] = runs
    .flatMap(({ name, figures: { slowShare } }) => (slowShare === undefined ? [] : [{ name, slowShare }]))
    .sort((a, b) => a.slowShare - b.slowShare);
  const label = 'isolation: share that slow ones get of what their limits allow, least';
  return [
    ...judge('neighbourP99', 'p99 ms beside neighbours', 'p99Ms'),
    ...judge('neighbourP99', 'p99 ms of a report beside neighbours', 'reportP99Ms'),
    ...judge('isolationLeftOver', 'left over beside neighbours', 'undelivered'),
    ...(least ? [judgeOnce('neighbourShare', `${label} (${least.name})`, least.slowShare)] : []),
  ];
}

function judgeBeside([alone, ...others]: readonly IsolationRun[]) {
  return (target: TargetName, label: string, read: Exclude<keyof IsolationRun['figures'], 'slowShare'>) => {
    const runs = others.map(({ name, figures }) => ({ name, value: figures[read] }));
    return judgeWorst(target, `isolation: ${label}`, runs, alone?.figures[read]);
  };
}

/** The result of one scenario. `foreign`: share of the processors that other programs used meanwhile, 0 to 1. */
export type ScenarioOutcome = { readonly name: ScenarioName; readonly foreign: number } & (
  | { readonly targets: readonly TargetRow[] }
  | { readonly error: string }
);

/** A run, and the share of the processors that other programs used over all of it. */
type JudgedRun = { readonly outcomes: readonly ScenarioOutcome[]; readonly foreign: number };

/** Every target of a run in one table. */
export function targetsTable({ outcomes, foreign: ofAll }: JudgedRun, isQuick: boolean): Table {
  const foreign = outcomes.map(({ name, foreign }) => `${name} ${toPercent(foreign)}`).join(', ');
  return {
    title: isQuick ? 'Targets, of a quick run: it shows that all of it works, and proves none of them' : 'Targets',
    columns: ['what', 'measured', 'its floor', 'ratio', 'target', 'met'],
    rows: outcomes.flatMap(toRows),
    notes: [`Used by other programs meanwhile, of all processors: ${toPercent(ofAll)} (${foreign}).`],
  };
}

function toRows(outcome: ScenarioOutcome): Cell[][] {
  if ('error' in outcome) return [[outcome.name, 'FAILED', NaN, NaN, outcome.error.split('\n')[0] ?? '', 'no']];
  return outcome.targets.map(({ row, measured, floor, ratio, target, isMet }) => [
    ...[row, measured, floor, ratio, target],
    isMet ? 'yes' : 'NO',
  ]);
}

function toPercent(share: number): string {
  return Number.isNaN(share) ? 'unknown' : `${Math.round(share * 100)} %`;
}

/** A figure of this build and of the other one (the floor of each pair), round by round. */
export type Compared = {
  readonly row: string;
  readonly rounds: readonly Paired[];
  readonly target: TargetName | undefined;
};

/** This build compared with another one. The ratio is the median of the rounds' ratios. */
export function besideTable(directory: string, compared: readonly Compared[]): Table {
  return {
    title: `This build beside ${directory}`,
    columns: ['what', 'this build', 'beside', 'ratio', 'least', 'most', 'target', 'met'],
    rows: compared.map(toRow),
    notes: [
      'Both builds took turns in the same run. ratio: this build / beside, median of the rounds; least and most: of one round.',
    ],
  };
}

function toRow({ row, rounds, target }: Compared): Cell[] {
  const { measured, floor, ratio } = medianOfRounds(rounds);
  const ratios = rounds.map((round) => round.measured / round.floor);
  const judged = target === undefined ? undefined : judgeRounds(target, row, rounds);
  const met = judged === undefined ? '' : judged.isMet ? 'yes' : 'NO';
  return [row, measured, floor, ratio, Math.min(...ratios), Math.max(...ratios), judged?.target ?? '', met];
}

/** The measurements of one build, one value a round. */
export type BuildRounds<T> = {
  readonly build: Build;
  readonly rounds: readonly T[];
  /** A row's name, with the build's when there are two. */
  readonly title: (row: string) => string;
};

/** Measurements of builds that take turns: disturbances of the machine affect all of them. */
export type Turns<T> = {
  /** One round: every build once. The order alternates, so that no build is always second. */
  readonly take: (measure: (build: Build) => Promise<T>) => Promise<void>;
  /** The builds, this one first. */
  readonly all: readonly BuildRounds<T>[];
  /** This build's rounds. */
  readonly own: readonly T[];
  /** One row of the comparison with the other build; none without one. */
  readonly compare: (row: string, read: (round: T) => number, target?: TargetName) => readonly Compared[];
};

/**
 * @param builds this build, and perhaps another one
 * @param roundsBefore earlier rounds of the scenario, when each of its measurements has its own turns
 */
export function createTurns<T>(builds: readonly Build[], roundsBefore = 0): Turns<T> {
  const all = builds.map((build) => ({
    build,
    rounds: [] as T[],
    title: (row: string) => (builds.length === 1 ? row : `${row}, ${build.name}`),
  }));
  const [own, beside] = all;
  if (!own) throw new Error('there is a build to measure');
  let taken = roundsBefore;
  return {
    async take(measure) {
      const order = taken++ % 2 === 0 ? all : all.toReversed();
      for (const { build, rounds } of order) rounds.push(await measure(build));
    },
    all,
    own: own.rounds,
    compare(row, read, target) {
      if (!beside) return [];
      const rounds = own.rounds.map((round, index) => {
        const other = beside.rounds[index];
        return { measured: read(round), floor: other === undefined ? NaN : read(other) };
      });
      return [{ row, rounds, target }];
    },
  };
}
