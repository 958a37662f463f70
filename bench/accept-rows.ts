import type { Accepted } from './measure-accept.ts';
import { BATCH } from './measure-accept.ts';
import { median, spread } from './statistics.ts';
import type { Cell } from './table.ts';

/** Acceptance by an API, one by one and in batches. */
export type AcceptRound = Readonly<Record<'single' | 'batch', Accepted>>;

export const ACCEPT_COLUMNS = [
  ...['transitions', 'per s', 'spread', 'of the bare route', 'of single', 'of everysec'],
  ...['µs CPU: API', 'Redis', 'both'],
];

/** Rounds that ratios refer to. */
export type AcceptFloors = {
  readonly bare?: readonly Accepted[];
  readonly single?: readonly Accepted[];
  readonly everysec?: readonly Accepted[];
};

export function acceptRow(name: string, rounds: readonly Accepted[], floors: AcceptFloors): Cell[] {
  const rates = rounds.map(({ perSecond }) => perSecond);
  const ratioTo = (floor: readonly Accepted[] = []) =>
    median(rates.map((rate, index) => rate / (floor[index]?.perSecond ?? NaN)));
  return [
    ...[name, median(rates), `${Math.round(spread(rates) * 100)} %`],
    ...[ratioTo(floors.bare), ratioTo(floors.single), ratioTo(floors.everysec)],
    median(rounds.map(({ cpuUs }) => cpuUs.api)),
    median(rounds.map(({ cpuUs }) => cpuUs.redis)),
    median(rounds.map(cpuOf)),
  ];
}

/** The rows of one build at one fan-out. */
export function acceptRows(
  title: (row: string) => string,
  rounds: readonly AcceptRound[],
  bare: readonly Accepted[],
  everysec?: readonly AcceptRound[],
): Cell[][] {
  const pick = (name: keyof AcceptRound, from = rounds) => from.map((round) => round[name]);
  const floors = (name: keyof AcceptRound) => ({ bare, ...(everysec && { everysec: pick(name, everysec) }) });
  return [
    acceptRow(title('single'), pick('single'), floors('single')),
    acceptRow(title(`batch of ${BATCH}`), pick('batch'), { ...floors('batch'), single: pick('single') }),
  ];
}

/** CPU of API and Redis for a transition, in µs; other programs disturb it less than rates. */
export function cpuOf({ cpuUs }: Accepted): number {
  return cpuUs.api + cpuUs.redis;
}
