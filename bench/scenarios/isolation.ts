import { loadavg } from 'node:os';
import { aloneOf, chooseVariants, HEALTHY, type Variant } from '../isolation-variants.ts';
import { measureIsolation, type IsolationFigures } from '../measure-isolation.ts';
import type { Scenario } from '../scenario.ts';
import type { Cell, Table } from '../table.ts';
import { judgeIsolation, judgeNeighbours } from '../targets.ts';
import { createTurns, type BuildRounds, type Turns } from '../turns.ts';

type VariantTurns = { readonly variant: Variant; readonly turns: Turns<IsolationFigures> };

/**
 * The effect of neighbours on healthy receivers. Of each load, the run without neighbours comes first; ratios refer to
 * that of the same build.
 */
export const isolation: Scenario = async ({ options: { seconds, variants, builds, destinations, behind }, say }) => {
  const measured: VariantTurns[] = [];
  const chosen = chooseVariants(variants, { groups: destinations, pending: behind });
  for (const [index, variant] of chosen.entries()) {
    say(`isolation, ${variant.name}: ${variant.says}, ${seconds} s, load average ${loadavg()[0]?.toFixed(1) ?? ''}`);
    const turns = createTurns<IsolationFigures>(builds, index);
    await turns.take((build) => measureIsolation(variant, seconds, build));
    measured.push({ variant, turns });
  }
  const byLoad = [...Map.groupBy(measured, ({ variant }) => aloneOf(variant)).values()];
  const own = byLoad.map((runs) =>
    runs.flatMap(({ variant: { name }, turns }) => turns.own.map((figures) => ({ name, figures }))),
  );
  const raw = measured.map(({ variant: { name, says }, turns }) => ({ name, says, builds: turns.all }));
  return {
    tables: byLoad.map((runs) => toTable(runs, seconds)),
    raw: { measured: raw },
    targets: byLoad.flatMap(([first], index) => {
      const judge = first?.variant === HEALTHY ? judgeIsolation : judgeNeighbours;
      return judge(own[index] ?? []);
    }),
    compared: measured.flatMap(compare),
  };
};

function toTable(runs: readonly VariantTurns[], seconds: number): Table {
  const { perSecond = NaN, concurrency = NaN } = runs[0]?.variant.load ?? {};
  return {
    title: `Isolation: ${perSecond} deliveries/s and concurrency ${concurrency}, deadline 10 s, ${seconds} s each`,
    columns: [
      ...['run', 'healthy p50 ms', 'p99', 'max', 'p99 ratio', 'report p99', 'undelivered', 'repeated', 'slow share'],
      ...['lists', 'worker CPU s/min', 'ratio', 'Redis CPU s/min', 'ratio'],
    ],
    rows: runs.flatMap(({ variant, turns }) =>
      turns.all.map((run, index) => toRow(variant, run, runs[0]?.turns.all[index]?.rounds[0])),
    ),
    notes: [
      ...runs.map(({ variant: { name, says } }) => `${name}: ${says}`),
      'Latency: created_at to arrival, in whole ms, of the deliveries to healthy receivers; undelivered: not there 5 s after the load.',
      'Slow share: requests that late receivers had open, of those that their limits and their load allow. Lists: answered, refused.',
    ],
  };
}

function toRow(
  variant: Variant,
  { rounds, title }: BuildRounds<IsolationFigures>,
  alone: IsolationFigures | undefined,
): Cell[] {
  const { name } = variant;
  const [figures] = rounds;
  if (!figures) throw new Error(`${name} was not measured`);
  const { p50Ms, p99Ms, maxMs, reportP99Ms, undelivered, repeated, slowShare, lists, workerCpu, redisCpu } = figures;
  const ratio = (read: (of: IsolationFigures) => number) =>
    alone && aloneOf(variant) !== variant ? read(figures) / read(alone) : NaN;
  return [
    ...[title(name), p50Ms, p99Ms, maxMs, ratio((of) => of.p99Ms), reportP99Ms],
    ...[`${undelivered} of ${figures.healthy}`, String(repeated), slowShare ?? NaN],
    lists ? `${lists.answered}, ${lists.refused}` : NaN,
    ...[workerCpu, ratio((of) => of.workerCpu), redisCpu, ratio((of) => of.redisCpu)],
  ];
}

function compare({ variant: { name }, turns }: VariantTurns) {
  return [
    ...turns.compare(`isolation, ${name}: p99 ms`, ({ p99Ms }) => p99Ms),
    ...turns.compare(`isolation, ${name}: worker CPU s/min`, ({ workerCpu }) => workerCpu),
    ...turns.compare(`isolation, ${name}: Redis CPU s/min`, ({ redisCpu }) => redisCpu),
  ];
}
