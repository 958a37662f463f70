import { measureFloor, type FloorRound } from '../floor.ts';
import { floorRows, PACE_COLUMNS } from '../floor-rows.ts';
import type { Scenario } from '../scenario.ts';

/** The cost of BullMQ and of an HTTPS client alone: a service made of both can't be faster than their composition. */
export const floor: Scenario = async ({ options: { count, repeats }, say }) => {
  const rounds: FloorRound[] = [];
  for (let round = 1; round <= repeats; round++) {
    say(`floor, round ${round} of ${repeats}`);
    rounds.push(await measureFloor(count));
  }
  const title = `Floor: ${count} items each, median of ${repeats}`;
  return { tables: [{ title, columns: PACE_COLUMNS, rows: floorRows(rounds) }], raw: { rounds }, targets: [] };
};
