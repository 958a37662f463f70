import { DELIVERIES_PER_SECOND, measureOrder, RECEIVERS, type OrderFigures, type Ordering } from '../measure-order.ts';
import type { Scenario } from '../scenario.ts';
import { percentile } from '../statistics.ts';
import type { Cell } from '../table.ts';
import { judgeOnce } from '../targets.ts';

const SHARES = [0.5, 0.9, 0.99, 1] as const;
const sharesOf = (sorted: readonly number[]) => SHARES.map((share) => percentile(sorted, share));

/** Events of one Task in order, for very many receivers. */
export const order: Scenario = async ({ options: { seconds }, say }) => {
  const measure = async (ordering: Ordering) => {
    say(`order, ordering ${ordering}, ${seconds} s`);
    return await measureOrder(ordering, seconds);
  };
  const without = await measure('none');
  const ordered = await measure('task');
  const toRows = (name: string, { first, last, broken, linesLeft }: OrderFigures): Cell[][] => [
    [`${name}, first event of a Task`, first.length, ...sharesOf(first), broken, linesLeft],
    [`${name}, third event`, last.length, ...sharesOf(last), broken, linesLeft],
  ];
  const table = {
    title: `Order: ${RECEIVERS} receivers, ${DELIVERIES_PER_SECOND} deliveries/s, ms from the 2xx to the arrival, ${seconds} s`,
    columns: ['ordering', 'deliveries', 'p50', 'p90', 'p99', 'max', 'out of order', 'lines left'],
    rows: [...toRows('none', without), ...toRows('task', ordered)],
    notes: [
      'Three events of a Task are reported in one batch, to ten receivers of its workspace. With order, the second and the third wait until the one before is settled.',
    ],
  };
  const p99Of = ({ first }: OrderFigures) => percentile(first, 0.99);
  return {
    tables: [table],
    raw: { without: toRows('none', without), ordered: toRows('task', ordered) },
    targets: [
      judgeOnce('orderP99', 'order: p99 of the first events of Tasks, ms', p99Of(ordered), p99Of(without)),
      judgeOnce('orderBroken', 'order: events that arrived out of order', ordered.broken, without.broken),
      judgeOnce('orderBroken', 'order: lines left in Redis', ordered.linesLeft),
    ],
  };
};
