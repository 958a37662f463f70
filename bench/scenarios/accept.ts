import { ACCEPT_COLUMNS, acceptRow, acceptRows, cpuOf, type AcceptRound } from '../accept-rows.ts';
import type { Build } from '../builds.ts';
import {
  BATCH,
  BATCHED,
  CONNECTIONS,
  measureBareRoute,
  measureBatches,
  measureSingles,
  SINGLES,
  WARM_UP,
  withApi,
  type Accepted,
} from '../measure-accept.ts';
import { profilerArgs, profileTable } from '../profile.ts';
import type { Scenario } from '../scenario.ts';
import { FSYNCS, type Fsync } from '../start-bench-redis.ts';
import { median } from '../statistics.ts';
import type { Cell, Table } from '../table.ts';
import { judgeAccept, judgeRounds, type TargetRow } from '../targets.ts';
import { createTurns, type Turns } from '../turns.ts';

export type { BareRouteInput } from '../measure-accept.ts';

const FAN_OUTS = [1, 10] as const;
type FanOut = (typeof FAN_OUTS)[number];
const KINDS = ['single', 'batch'] as const;

/** Results of one fan-out with each way of writing to the disk. */
type FanOutTurns = { readonly fanOut: FanOut; readonly bare: Accepted[] } & Readonly<Record<Fsync, Turns<AcceptRound>>>;

/** Transitions accepted per second while no worker runs, compared with an Express route that only runs a script. */
export const accept: Scenario = async ({ options: { repeats, builds, profile }, say }) => {
  const measured = FAN_OUTS.map((fanOut): FanOutTurns => ({
    fanOut,
    bare: [],
    everysec: createTurns(builds),
    always: createTurns(builds),
  }));
  for (const { fanOut, bare, ...turns } of measured) {
    for (let round = 1; round <= repeats; round++) {
      say(`accept, fan-out ${fanOut}, round ${round} of ${repeats}`);
      bare.push(await measureBareRoute(fanOut));
      for (const fsync of FSYNCS) await turns[fsync].take((build) => measureApi(fanOut, fsync, build));
    }
  }
  const tables: Table[] = [
    {
      title: `Accept: transitions per second, median of ${repeats}`,
      columns: ACCEPT_COLUMNS,
      rows: measured.flatMap(toRows),
      notes: [
        `Single over ${CONNECTIONS.single} connections, batches of ${BATCH} over ${CONNECTIONS.batch}; process warmed up; the load generator shares the cores.`,
        'The bare route: express.json() and one script with as many Redis commands; no key, no validation, no queue.',
        ...measured.map(byCpu),
      ],
    },
  ];
  if (profile) tables.push(...(await profileApi(say)));
  const raw = measured.map(({ fanOut, bare, everysec, always }) => ({
    fanOut,
    bare,
    everysec: everysec.all,
    always: always.all,
  }));
  return { tables, raw: { measured: raw }, targets: measured.flatMap(judge), compared: measured.flatMap(compare) };
};

function toRows({ fanOut, bare, everysec, always }: FanOutTurns): Cell[][] {
  const label = (row: string) => `${row}, fan-out ${fanOut}`;
  return [
    acceptRow(label('bare route'), bare, { bare }),
    ...everysec.all.flatMap(({ rounds, title }) => acceptRows((row) => title(label(row)), rounds, bare)),
    ...always.all.flatMap(({ rounds, title }, index) =>
      acceptRows((row) => title(`${label(row)}, always`), rounds, bare, everysec.all[index]?.rounds),
    ),
  ];
}

function judge({ fanOut, bare, everysec, always }: FanOutTurns): TargetRow[] {
  const rates = everysec.own.map(({ single, batch }, index) => ({
    bare: bare[index]?.perSecond ?? NaN,
    single: single.perSecond,
    batch: batch.perSecond,
  }));
  const judgeAlways = (kind: keyof AcceptRound) => {
    const rounds = always.own.map((round, index) => ({
      measured: round[kind].perSecond,
      floor: everysec.own[index]?.[kind].perSecond ?? NaN,
    }));
    return judgeRounds('always', `accept: ${kind}, fan-out ${fanOut}, appendfsync always, transitions/s`, rounds);
  };
  return [...judgeAccept(fanOut, rates), ...KINDS.map(judgeAlways)];
}

function compare({ fanOut, ...turns }: FanOutTurns) {
  return FSYNCS.flatMap((fsync) =>
    KINDS.flatMap((kind) => {
      const label = `accept, ${kind}, fan-out ${fanOut}${fsync === 'always' ? ', appendfsync always' : ''}`;
      const { compare } = turns[fsync];
      return [
        ...compare(`${label}: µs CPU of API and Redis`, (round) => cpuOf(round[kind]), 'acceptCpuBeside'),
        ...compare(`${label}: transitions/s`, (round) => round[kind].perSecond),
      ];
    }),
  );
}

function byCpu({ fanOut, bare, everysec: { own } }: FanOutTurns): string {
  const ofBare = median(own.map(({ single }, index) => cpuOf(bare[index] ?? single) / cpuOf(single))).toFixed(2);
  const ofSingle = median(own.map(({ single, batch }) => cpuOf(single) / cpuOf(batch))).toFixed(2);
  return `By the CPU of API and Redis alone, fan-out ${fanOut}: single ${ofBare} of the bare route, batch ${ofSingle} of single.`;
}

async function measureApi(fanOut: FanOut, fsync: Fsync, build: Build): Promise<AcceptRound> {
  const plan = { fanOut, fsync, build };
  return { single: await withApi(plan, measureSingles), batch: await withApi(plan, measureBatches) };
}

async function profileApi(say: (line: string) => void): Promise<Table[]> {
  const tables: Table[] = [];
  for (const [kind, items] of [
    ['single', SINGLES],
    ['batch', BATCHED],
  ] as const) {
    say(`accept, ${kind}, profiled`);
    const scenario = `accept-${kind}`;
    const nodeArgs = await profilerArgs('api', scenario);
    await withApi({ fanOut: 10, nodeArgs }, kind === 'single' ? measureSingles : measureBatches);
    tables.push(await profileTable({ name: 'api', scenario, items: items * (1 + WARM_UP) }));
  }
  return tables;
}
