import type { Build } from '../builds.ts';
import { measureListen, PACE, type ListenFigures } from '../measure-listen.ts';
import type { Scenario } from '../scenario.ts';
import { median } from '../statistics.ts';
import type { Cell } from '../table.ts';
import { createTurns } from '../turns.ts';

/** As many as a workspace may have. */
const LISTENERS = 5;

/** What listeners of the workspace cost the acceptance of its transitions, and what they cost while there are none. */
export const listen: Scenario = async ({ options: { repeats, seconds, builds }, say }) => {
  const none = createTurns<ListenFigures>(builds);
  const five: ListenFigures[] = [];
  for (let round = 1; round <= repeats; round++) {
    say(`listen, round ${round} of ${repeats}`);
    await none.take((build: Build) => measureListen(0, seconds, build));
    five.push(await measureListen(LISTENERS, seconds));
  }
  const row = (name: string, rounds: readonly ListenFigures[]): Cell[] => {
    const of = (read: (figures: ListenFigures) => number) => median(rounds.map(read));
    return [
      name,
      of(({ perSecond }) => perSecond),
      of(({ cpuUs }) => cpuUs.api),
      of(({ cpuUs }) => cpuUs.redis),
      of(({ commands }) => commands),
      of(({ p50 }) => p50),
      of(({ p99 }) => p99),
    ];
  };
  const table = {
    title: `Listen: accepting while nobody and while ${LISTENERS} listen, median of ${repeats}`,
    columns: ['listeners', 'transitions/s', 'API, µs', 'Redis, µs', 'commands each', 'p50, ms', 'p99, ms'],
    rows: [...none.all.map(({ title, rounds }) => row(title('none'), rounds)), row(String(LISTENERS), five)],
    notes: [
      `Fan-out 1, one report a transition; p50 and p99 of a report at ${PACE} a second. Commands within scripts count.`,
    ],
  };
  return {
    tables: [table],
    raw: { none: none.all, five },
    targets: [],
    compared: none.compare('listen, nobody: commands a transition', ({ commands }) => commands),
  };
};
