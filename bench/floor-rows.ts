import type { FloorRound, Pace } from './floor.ts';
import { median, spread } from './statistics.ts';
import type { Cell } from './table.ts';

export const PACE_COLUMNS = [
  'deliveries',
  'per s',
  'spread',
  'of the floor',
  'µs CPU: worker',
  'Redis',
  'receivers',
] as const;

/** A row of medians. `ratios` refer to the floor of the same round. */
export function paceRow(name: string, paces: readonly Pace[], ratios: readonly number[] = []): Cell[] {
  const rates = paces.map(({ perSecond }) => perSecond);
  return [
    name,
    median(rates),
    `${Math.round(spread(rates) * 100)} %`,
    median(ratios),
    median(paces.map(({ cpuUs }) => cpuUs.worker)),
    median(paces.map(({ cpuUs }) => cpuUs.redis ?? NaN)),
    median(paces.map(({ cpuUs }) => cpuUs.receiver ?? NaN)),
  ];
}

export function floorRows(rounds: readonly FloorRound[]): Cell[][] {
  const paces = (read: (round: FloorRound) => Pace) => rounds.map(read);
  const ratios = rounds.map(({ composed, composedWithHttps }) => composedWithHttps.perSecond / composed.perSecond);
  return [
    paceRow(
      'BullMQ alone',
      paces(({ bullmq }) => bullmq),
    ),
    paceRow(
      'the sender (got) alone',
      paces(({ got }) => got),
    ),
    paceRow(
      'node:https alone',
      paces(({ https }) => https),
    ),
    paceRow(
      'floor: BullMQ + got, composed',
      paces(({ composed }) => composed),
      [1],
    ),
    paceRow(
      'BullMQ + node:https, composed',
      paces(({ composedWithHttps }) => composedWithHttps),
      ratios,
    ),
  ];
}
