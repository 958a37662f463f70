import { execFileSync } from 'node:child_process';
import { measureSlowClients, type SlowClientsFigures } from '../measure-slow-clients.ts';
import type { Scenario } from '../scenario.ts';
import { NEEDED_FILES, SLOW_VARIANTS } from '../slow-clients-variants.ts';
import type { Cell } from '../table.ts';
import { judgeWorst } from '../targets.ts';

/**
 * The effect of slow and idle clients on healthy requests. The run without them comes first; all ratios refer to it.
 */
export const slowClients: Scenario = async ({ options: { seconds }, say }) => {
  refuseFewFiles();
  const measured: { name: string; figures: SlowClientsFigures }[] = [];
  for (const variant of SLOW_VARIANTS) {
    say(`slow-clients, ${variant.name}, ${seconds} s`);
    measured.push({ name: variant.name, figures: await measureSlowClients(variant, seconds) });
  }
  const floor = measured[0]?.figures;
  const rows = measured.map(({ name, figures }, index): Cell[] => {
    const { requests, p50Ms, p99Ms, maxMs, leastHeld, reopened, apiCpu, apiMiB } = figures;
    const ratio = index === 0 || !floor ? NaN : p99Ms / floor.p99Ms;
    return [name, String(requests), p50Ms, p99Ms, maxMs, ratio, leastHeld, reopened, apiCpu, apiMiB];
  });
  const beside = measured.filter((_, index) => Object.keys(SLOW_VARIANTS[index]?.groups ?? {}).length > 0);
  const targets = judgeWorst(
    'slowClients',
    'slow clients: healthy p99 ms',
    beside.map(({ name, figures }) => ({ name, value: figures.p99Ms })),
    floor?.p99Ms,
  );
  const table = {
    title: `Slow clients: 100 healthy requests/s to one API, ${seconds} s each`,
    columns: [
      ...['run', 'requests', 'healthy p50 ms', 'p99', 'max', 'p99 ratio', 'least held', 'reopened'],
      ...['API CPU s/min', 'API MiB'],
    ],
    rows,
    notes: [
      'Half of the healthy requests report a transition, half read a Task, one in ten over a new connection; timed from when each was due.',
      'least held: fewest slow connections open at a time; reopened: closed by the API, and opened again. The slow clients share the processors.',
      'Trust nothing when the two floors differ: other programs took the processors then.',
    ],
  };
  return { tables: [table], raw: { measured }, targets };
};

/** Node raises its limit of open files as far as the system allows. Beyond that the user must raise it. */
function refuseFewFiles(): void {
  const limit = execFileSync('/bin/sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim();
  if (limit !== 'unlimited' && Number(limit) < NEEDED_FILES) {
    throw new Error(
      `slow-clients needs ${NEEDED_FILES} open files per process, and the limit is ${limit}: ulimit -n raises it`,
    );
  }
}
