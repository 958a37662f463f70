import { measureFloor, type FloorRound } from '../floor.ts';
import { measureThrough, type Through } from '../measure-through.ts';
import type { Scenario } from '../scenario.ts';
import { FSYNCS, type Fsync } from '../start-bench-redis.ts';
import { median, spread } from '../statistics.ts';
import type { Cell } from '../table.ts';
import { judgeRounds, TARGETS, type Paired } from '../targets.ts';
import { createTurns, type BuildRounds, type Turns } from '../turns.ts';

const FAN_OUTS = [1, 10] as const;

/** Results of one fan-out with each way of writing to the disk. */
type FanOutTurns = { readonly fanOut: number } & Readonly<Record<Fsync, Turns<Through>>>;

/** Everything at once: an executor reports in batches while a worker delivers, all on the same processors. */
export const through: Scenario = async ({ options: { count, repeats, builds }, say }) => {
  const floors: FloorRound[] = [];
  const measured = FAN_OUTS.map((fanOut): FanOutTurns => ({
    fanOut,
    everysec: createTurns(builds),
    always: createTurns(builds),
  }));
  for (let round = 1; round <= repeats; round++) {
    say(`through, floor, round ${round} of ${repeats}`);
    floors.push(await measureFloor(count));
    for (const { fanOut, ...turns } of measured) {
      for (const fsync of FSYNCS) {
        say(`through, fan-out ${fanOut}, ${fsync}, round ${round} of ${repeats}`);
        await turns[fsync].take((build) => measureThrough({ count, fanOut, fsync, build }));
      }
    }
  }
  const floorRates = floors.map(({ composed }) => composed.perSecond);
  const accepted = measured.map(({ fanOut, everysec }) => {
    const rate = median(everysec.own.map(({ acceptedPerSecond }) => acceptedPerSecond));
    return `${Math.round(rate)} deliveries/s at fan-out ${fanOut}`;
  });
  const table = {
    title: `Through: ${count} deliveries from the report to the receiver, median of ${repeats}`,
    columns: [
      ...['deliveries', 'per s', 'spread', 'of the floor', 'of everysec'],
      ...['µs CPU: API', 'worker', 'Redis', 'all three', 'receivers'],
    ],
    rows: [
      floorRow(floorRates),
      ...measured.flatMap(({ fanOut, everysec, always }) => [
        ...everysec.all.map((rounds) => toRow(`fan-out ${fanOut}`, rounds, floorRates)),
        ...always.all.map((rounds, index) =>
          toRow(`fan-out ${fanOut}, appendfsync always`, rounds, floorRates, everysec.all[index]?.rounds),
        ),
      ]),
    ],
    notes: [
      `From the first report to the last arrival, in batches of 100; as many receivers as the fan-out. Target at fan-out 10: ${TARGETS.through.words} per s, all of it on two cores.`,
      'all three: API, worker and Redis, for a delivery accepted and sent; the load generator and the receivers are not in it.',
      `All accepted at ${accepted.join(', at ')} meanwhile. The floor only delivers; it accepts nothing.`,
    ],
  };
  const targets = measured.flatMap(({ fanOut, everysec, always }) => {
    const pair = (rounds: readonly Through[], floors: readonly number[]): Paired[] =>
      rounds.map(({ perSecond }, index) => ({ measured: perSecond, floor: floors[index] ?? NaN }));
    const label = `through: batches, fan-out ${fanOut}`;
    return [
      ...(fanOut === 10 ? [judgeRounds('through', `${label}, deliveries/s`, pair(everysec.own, floorRates))] : []),
      judgeRounds('always', `${label}, appendfsync always, deliveries/s`, pair(always.own, ratesOf(everysec.own))),
    ];
  });
  const raw = measured.map(({ fanOut, everysec, always }) => ({ fanOut, everysec: everysec.all, always: always.all }));
  return { tables: [table], raw: { floors, measured: raw }, targets, compared: measured.flatMap(compare) };
};

function compare({ fanOut, ...turns }: FanOutTurns) {
  return FSYNCS.flatMap((fsync) => {
    const label = `through, fan-out ${fanOut}${fsync === 'always' ? ', appendfsync always' : ''}`;
    const { compare } = turns[fsync];
    return [
      ...compare(`${label}: µs CPU of all three`, (of) => of.cpuUs.herald, 'throughCpuBeside'),
      ...compare(`${label}: deliveries/s`, (of) => of.perSecond),
    ];
  });
}

function floorRow(rates: readonly number[]): Cell[] {
  return ['floor: BullMQ + got, composed', median(rates), percent(spread(rates)), 1, NaN, NaN, NaN, NaN, NaN, NaN];
}

function toRow(
  label: string,
  { rounds, title }: BuildRounds<Through>,
  floors: readonly number[],
  everysec: readonly Through[] = [],
): Cell[] {
  const rates = ratesOf(rounds);
  const ratioTo = (others: readonly number[]) => median(rates.map((rate, index) => rate / (others[index] ?? NaN)));
  const cpu = (name: keyof Through['cpuUs']) => median(rounds.map(({ cpuUs }) => cpuUs[name]));
  return [
    ...[title(label), median(rates), percent(spread(rates)), ratioTo(floors), ratioTo(ratesOf(everysec))],
    ...[cpu('api'), cpu('worker'), cpu('redis'), cpu('herald'), cpu('receiver')],
  ];
}

function ratesOf(rounds: readonly Through[]): number[] {
  return rounds.map(({ perSecond }) => perSecond);
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
