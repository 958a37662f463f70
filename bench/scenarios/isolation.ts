import { chooseVariants, HEALTHY, type Variant } from '../isolation-variants.ts';
import { measureIsolation, type IsolationFigures } from '../measure-isolation.ts';
import type { Scenario } from '../scenario.ts';
import type { Cell } from '../table.ts';
import { judgeIsolation } from '../targets.ts';
import { createTurns, type BuildRounds, type Turns } from '../turns.ts';

type VariantTurns = { readonly variant: Variant; readonly turns: Turns<IsolationFigures> };

/**
 * The effect of bad destinations on healthy ones. The run without bad ones comes first; ratios refer to that of the
 * same build.
 */
export const isolation: Scenario = async ({ options: { seconds, variants, builds }, say }) => {
  const measured: VariantTurns[] = [];
  for (const [index, variant] of [HEALTHY, ...chooseVariants(variants)].entries()) {
    say(`isolation, ${variant.name}: ${variant.says}, ${seconds} s`);
    const turns = createTurns<IsolationFigures>(builds, index);
    await turns.take((build) => measureIsolation(variant, seconds, build));
    measured.push({ variant, turns });
  }
  const rows = measured.flatMap(({ variant, turns }) =>
    turns.all.map((run, index) => toRow(variant, run, measured[0]?.turns.all[index]?.rounds[0])),
  );
  const table = {
    title: `Isolation: 200 deliveries/s and concurrency 50 unless the variant says otherwise, deadline 10 s, ${seconds} s each`,
    columns: [
      ...['run', 'healthy p50 ms', 'p99', 'max', 'p99 ratio', 'undelivered', 'repeated'],
      ...['worker CPU s/min', 'ratio', 'Redis CPU s/min', 'ratio'],
    ],
    rows,
    notes: [
      ...measured.map(({ variant: { name, says } }) => `${name}: ${says}`),
      'Latency: created_at to arrival, in whole ms, of the deliveries to healthy receivers; undelivered: not there 5 s after the load.',
    ],
  };
  const raw = measured.map(({ variant: { name, says }, turns }) => ({ name, says, builds: turns.all }));
  const own = measured.flatMap(({ variant: { name }, turns }) => turns.own.map((figures) => ({ name, figures })));
  return {
    tables: [table],
    raw: { measured: raw },
    targets: judgeIsolation(own),
    compared: measured.flatMap(compare),
  };
};

function toRow(
  { name }: Variant,
  { rounds, title }: BuildRounds<IsolationFigures>,
  healthy: IsolationFigures | undefined,
): Cell[] {
  const [figures] = rounds;
  if (!figures) throw new Error(`${name} was not measured`);
  const { p50Ms, p99Ms, maxMs, undelivered, repeated, workerCpu, redisCpu } = figures;
  const ratio = (read: (of: IsolationFigures) => number) =>
    healthy && name !== HEALTHY.name ? read(figures) / read(healthy) : NaN;
  return [
    ...[title(name), p50Ms, p99Ms, maxMs, ratio((of) => of.p99Ms)],
    ...[`${undelivered} of ${figures.healthy}`, String(repeated)],
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
