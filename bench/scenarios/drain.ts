import { FAST_RECEIVERS, measureFloor, type FloorRound } from '../floor.ts';
import { floorRows, PACE_COLUMNS, paceRow } from '../floor-rows.ts';
import { measureDrain, planDrain, type Drained } from '../measure-drain.ts';
import { profileTable, type ProfiledProcess } from '../profile.ts';
import type { Scenario } from '../scenario.ts';
import { median } from '../statistics.ts';
import { judgeRounds } from '../targets.ts';
import { createTurns } from '../turns.ts';

/** Everything is accepted while no worker runs. Then one worker process sends it, as fast as it can. */
export const drain: Scenario = async ({ options, say }) => {
  const plan = planDrain(options.count);
  const { count } = plan;
  const floors: FloorRound[] = [];
  const turns = createTurns<Drained>(options.builds);
  for (let round = 1; round <= options.repeats; round++) {
    say(`floor, round ${round} of ${options.repeats}`);
    floors.push(await measureFloor(count));
    say(`drain, round ${round} of ${options.repeats}`);
    await turns.take((build) => measureDrain({ ...plan, build }));
  }
  const drains = turns.own;
  say('drain, writing its log');
  const logged = await measureDrain({ ...plan, logLevel: 'info' });
  const profiles: ProfiledProcess[] = [];
  if (options.profile) {
    say('drain, profiled');
    await measureDrain({ ...plan, profileWorker: true });
    profiles.push({ name: 'worker', scenario: 'drain', items: count });
  }
  const floor = median(floors.map(({ composed }) => composed.perSecond));
  const byCpu = median(drains.map(({ cpuUs }, index) => (floors[index]?.composed.cpuUs.worker ?? NaN) / cpuUs.worker));
  const duplicates = [...turns.all.flatMap(({ rounds }) => rounds), logged].reduce(
    (sum, drained) => sum + drained.duplicates,
    0,
  );
  const table = {
    title: `Drain: ${count} deliveries to ${FAST_RECEIVERS} receivers, one worker, median of ${options.repeats}`,
    columns: PACE_COLUMNS,
    rows: [
      ...floorRows(floors),
      ...turns.all.map(({ rounds, title }) =>
        paceRow(
          title('drain'),
          rounds,
          rounds.map(({ perSecond }, index) => perSecond / (floors[index]?.composed.perSecond ?? NaN)),
        ),
      ),
      paceRow('drain, log level info to a file (once)', [logged], [logged.perSecond / floor]),
    ],
    notes: [
      'Every row from cold, in a new process. spread: (largest - smallest) / median of its rounds; trust ratios before rates.',
      `By the worker's CPU alone, which other programs disturb less than rates: ${byCpu.toFixed(2)} of the floor.`,
      `Accepted before, in batches of 500: ${Math.round(median(drains.map((d) => d.acceptedPerSecond)))} deliveries/s. Sent twice: ${duplicates}.`,
    ],
  };
  return {
    tables: [table, ...(await Promise.all(profiles.map(profileTable)))],
    raw: { floors, drains: turns.all, logged },
    targets: [
      judgeRounds(
        'drain',
        `drain: ${count} pending, ${FAST_RECEIVERS} receivers, deliveries/s`,
        drains.map(({ perSecond }, index) => ({
          measured: perSecond,
          floor: floors[index]?.composed.perSecond ?? NaN,
        })),
      ),
    ],
    compared: [
      ...turns.compare('drain: deliveries/s', ({ perSecond }) => perSecond, 'drainBeside'),
      ...turns.compare('drain: µs CPU of the worker', ({ cpuUs }) => cpuUs.worker),
      ...turns.compare('drain: µs CPU of Redis', ({ cpuUs }) => cpuUs.redis ?? NaN),
    ],
  };
};
