import { chooseVariants, HEALTHY } from '../isolation-variants.ts';
import { measureIsolation, type IsolationFigures } from '../measure-isolation.ts';
import type { Scenario } from '../scenario.ts';
import type { Cell } from '../table.ts';
import { judgeIsolation } from '../targets.ts';

/** What bad destinations do to healthy ones. The run without bad ones comes first, and all ratios are to it. */
export const isolation: Scenario = async ({ options: { seconds, variants }, say }) => {
  const chosen = [HEALTHY, ...chooseVariants(variants)];
  const measured: { name: string; says: string; figures: IsolationFigures }[] = [];
  for (const variant of chosen) {
    say(`isolation, ${variant.name}: ${variant.says}, ${seconds} s`);
    measured.push({ name: variant.name, says: variant.says, figures: await measureIsolation(variant, seconds) });
  }
  const baseline = measured[0]?.figures;
  const rows = measured.map(({ name, figures }): Cell[] => {
    const { p50Ms, p99Ms, maxMs, undelivered, repeated, workerCpu, redisCpu } = figures;
    const ratio = (read: (of: IsolationFigures) => number) =>
      baseline && name !== HEALTHY.name ? read(figures) / read(baseline) : NaN;
    return [
      ...[name, p50Ms, p99Ms, maxMs, ratio((of) => of.p99Ms)],
      ...[`${undelivered} of ${figures.healthy}`, String(repeated)],
      ...[workerCpu, ratio((of) => of.workerCpu), redisCpu, ratio((of) => of.redisCpu)],
    ];
  });
  const table = {
    title: `Isolation: 200 deliveries/s, concurrency 50, deadline 10 s, ${seconds} s each`,
    columns: [
      ...['run', 'healthy p50 ms', 'p99', 'max', 'p99 ratio', 'undelivered', 'repeated'],
      ...['worker CPU s/min', 'ratio', 'Redis CPU s/min', 'ratio'],
    ],
    rows,
    notes: [
      ...measured.map(({ name, says }) => `${name}: ${says}`),
      'Latency: created_at to arrival, in whole ms, of the deliveries to healthy receivers; undelivered: not there 5 s after the load.',
    ],
  };
  return { tables: [table], raw: { measured }, targets: judgeIsolation(measured) };
};
