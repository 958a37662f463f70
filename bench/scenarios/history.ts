import { createPartitions } from '@herald/history/partitions/partitions';
import { measureHistoryPage } from '../measure-history-page.ts';
import { FAN_OUT, measureMoving } from '../measure-moving.ts';
import type { Scenario } from '../scenario.ts';
import { startBenchHistory } from '../start-bench-history.ts';
import { median } from '../statistics.ts';
import { judgeHistory } from '../targets.ts';

/** How fast settled deliveries move to PostgreSQL, what they take there, and how fast something among many is read. */
export const history: Scenario = async (run) => {
  const { count, repeats, rows } = run.options;
  await using started = await startBenchHistory();
  const { pool } = started;
  const partitions = createPartitions(pool);
  const { rounds, bytes } = await measureMoving(pool, partitions, run);
  run.say(`history, reading among ${rows} rows`);
  const pages = await measureHistoryPage(pool, partitions, rows);
  const perSecond = median(rounds.map((round) => round.perSecond));
  const cpuUs = median(rounds.map((round) => round.cpuUs));
  return {
    tables: [
      {
        title: `History: ${count} deliveries a round at fan-out ${FAN_OUT}, median of ${repeats}`,
        columns: ['moved', 'value'],
        rows: [
          ['deliveries/s', perSecond],
          ['CPU of the worker for each, µs', cpuUs],
          ['disk for each, without its body, bytes', bytes],
        ],
        notes: ['One mover in this process; PostgreSQL with fsync, Redis and the mover share the machine.'],
      },
      {
        title: `History: reading among ${rows} deliveries of 30 days, slowest of 50, ms`,
        columns: ['read', 'ms'],
        rows: [
          ['first page of a receiver', pages.first],
          ['a page from the middle of its time', pages.deep],
          ['a page with a filter that matches nothing', pages.filtered],
          ['a delivery by its id', pages.details],
          ['the transitions of a Task', pages.task],
        ],
        notes: ['By the reader of the API. A page that is filtered looks at 10,000 deliveries.'],
      },
    ],
    raw: { rounds, bytes, pages },
    targets: judgeHistory({ perSecond, cpuUs, bytes, pageMs: pages.first }),
  };
};
