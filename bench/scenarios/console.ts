import { measureConsole, PAGES } from '../measure-console.ts';
import type { Scenario } from '../scenario.ts';
import { judgeOnce } from '../targets.ts';

/** What open pages of the console cost while nobody touches them. */
export const consolePages: Scenario = async ({ options: { seconds }, say }) => {
  say(`console, ${PAGES} pages, twice ${seconds} s`);
  const figures = await measureConsole(seconds);
  const { open, idle, requests } = figures;
  const toPercent = (share: number) => share * 100;
  const rows = (['api', 'redis'] as const).map((of) => [
    of === 'api' ? 'API' : 'Redis',
    toPercent(open[of]),
    toPercent(idle[of]),
    toPercent(open[of] - idle[of]),
  ]);
  const table = {
    title: `Console: ${PAGES} open pages, % of a core, ${seconds} s`,
    columns: ['process', 'with the pages', 'without', 'for the pages'],
    rows,
    notes: [
      `${requests} times a page asked whether anything happened; each reads its lists and charts every five minutes. Nothing happens meanwhile.`,
    ],
  };
  return {
    tables: [table],
    raw: { figures },
    targets: [
      judgeOnce('consoleCpu', `console: API, % of a core for ${PAGES} pages`, toPercent(open.api - idle.api)),
      judgeOnce('consoleCpu', `console: Redis, % of a core for ${PAGES} pages`, toPercent(open.redis - idle.redis)),
    ],
  };
};
