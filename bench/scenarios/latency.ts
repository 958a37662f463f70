import { measureLatency, WARM_UP_SECONDS, type Latencies, type LatencyLoad } from '../measure-latency.ts';
import type { Scenario } from '../scenario.ts';
import { median, percentile } from '../statistics.ts';
import type { Cell } from '../table.ts';
import { judgeRounds, type TargetName, type TargetRow } from '../targets.ts';
import { createTurns, type BuildRounds, type Turns } from '../turns.ts';

type TargetsOfLoad = { readonly p50?: TargetName; readonly p99: TargetName };
type JudgedLoad = LatencyLoad & { readonly targets: TargetsOfLoad };
type LoadTurns = { readonly load: JudgedLoad; readonly turns: Turns<Latencies> };

const AT_500: TargetsOfLoad = { p50: 'latencyP50', p99: 'latencyP99' };
const LOADS: readonly JudgedLoad[] = [
  { name: '500/s, fan-out 1', deliveriesPerSecond: 500, receivers: 1, fanOut: 1, targets: AT_500 },
  { name: '500/s, fan-out 10', deliveriesPerSecond: 500, receivers: 10, fanOut: 10, targets: AT_500 },
  {
    name: '200/s over 50 receivers',
    deliveriesPerSecond: 200,
    receivers: 50,
    fanOut: 1,
    targets: { p99: 'latencySpreadP99' },
  },
];
const SHARES = [0.5, 0.9, 0.99, 1] as const;

/** From the 2xx of a transition to the arrival of its deliveries at their receivers. */
export const latency: Scenario = async ({ options: { seconds, repeats, builds }, say }) => {
  const measured = LOADS.map((load): LoadTurns => ({ load, turns: createTurns(builds) }));
  for (let round = 1; round <= repeats; round++) {
    for (const { load, turns } of measured) {
      say(`latency, ${load.name}, round ${round} of ${repeats}, ${seconds} s`);
      await turns.take((build) => measureLatency({ load, seconds, build }));
    }
  }
  const table = {
    title: `Latency in ms: ${seconds} s, median of ${repeats}`,
    columns: ['to the arrival of the headers', 'deliveries', 'p50', 'p90', 'p99', 'max'],
    rows: measured.flatMap(({ load, turns }) => turns.all.flatMap((rounds) => toRows(load, rounds))),
    notes: [
      'node:https alone: the same bodies at the same pace from a program that does nothing else, to the same receivers.',
      'Over 50 receivers each event goes to one of them, which is the callback of its Task, in turn.',
      `A delivery may arrive before the executor has its 2xx, and counts as 0 then. Targets are from the 2xx, after processes that were just started have run for ${WARM_UP_SECONDS} s.`,
    ],
  };
  const raw = measured.map(({ load: { name }, turns }) => ({
    name,
    builds: turns.all.map(({ build, rounds }) => ({ build, rounds: rounds.map(summarize) })),
  }));
  return {
    tables: [table],
    raw: { measured: raw },
    targets: measured.flatMap(judge),
    compared: measured.flatMap(({ load: { name }, turns }) => [
      ...turns.compare(`latency, ${name}: p50 ms`, ({ fromAnswer }) => percentile(fromAnswer, 0.5)),
      ...turns.compare(`latency, ${name}: p99 ms`, ({ fromAnswer }) => percentile(fromAnswer, 0.99)),
    ]),
  };
};

function judge({ load: { name, targets }, turns }: LoadTurns): TargetRow[] {
  const judgeShare = (target: TargetName, label: string, share: number) =>
    judgeRounds(
      target,
      `latency: ${label} at ${name}, ms`,
      turns.own.map(({ fromAnswer, floor }) => ({
        measured: percentile(fromAnswer, share),
        floor: percentile(floor, share),
      })),
    );
  return [
    ...(targets.p50 === undefined ? [] : [judgeShare(targets.p50, 'p50', 0.5)]),
    judgeShare(targets.p99, 'p99', 0.99),
  ];
}

function toRows({ name }: LatencyLoad, { rounds, title }: BuildRounds<Latencies>): Cell[][] {
  const toRow = (label: string, read: (latencies: Latencies) => readonly number[]): Cell[] => {
    const some = rounds.map(read);
    const sum = some.reduce((all, { length }) => all + length, 0);
    return [title(label), sum, ...SHARES.map((share) => median(some.map((sorted) => percentile(sorted, share))))];
  };
  return [
    toRow(`node:https alone, ${name}`, ({ floor }) => floor),
    toRow(`from the 2xx, ${name}, the ${WARM_UP_SECONDS} s before`, ({ warmUp }) => warmUp),
    toRow(`from the report, ${name}`, ({ fromReport }) => fromReport),
    toRow(`from the 2xx, ${name}`, ({ fromAnswer }) => fromAnswer),
  ];
}

function summarize(latencies: Latencies): object {
  return Object.fromEntries(
    Object.entries(latencies).map(([name, sorted]) => [name, SHARES.map((share) => percentile(sorted, share))]),
  );
}
