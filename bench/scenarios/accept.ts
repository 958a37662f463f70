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
import { median, spread } from '../statistics.ts';
import type { Cell, Table } from '../table.ts';
import { judgeAccept } from '../targets.ts';

export type { BareRouteInput } from '../measure-accept.ts';

const FAN_OUTS = [1, 10] as const;
type FanOut = (typeof FAN_OUTS)[number];
type Round = Readonly<Record<'bare' | 'single' | 'batch', Accepted>>;

/** Transitions accepted per second while no worker runs, beside an Express route that only runs a script. */
export const accept: Scenario = async ({ options, say }) => {
  const rounds = new Map<FanOut, Round[]>();
  for (const fanOut of FAN_OUTS) {
    const measured: Round[] = [];
    for (let round = 1; round <= options.repeats; round++) {
      say(`accept, fan-out ${fanOut}, round ${round} of ${options.repeats}`);
      measured.push({ bare: await measureBareRoute(fanOut), ...(await measureApi(fanOut)) });
    }
    rounds.set(fanOut, measured);
  }
  const tables: Table[] = [
    {
      title: `Accept: transitions per second, median of ${options.repeats}`,
      columns: ['transitions', 'per s', 'spread', 'of the bare route', 'of single', 'µs CPU: API', 'Redis'],
      rows: [...rounds].flatMap(([fanOut, measured]) => toRows(fanOut, measured)),
      notes: [
        `Single over ${CONNECTIONS.single} connections, batches of ${BATCH} over ${CONNECTIONS.batch}; process warmed up; the load generator shares the cores.`,
        'The bare route: express.json() and one script with as many Redis commands; no key, no validation, no queue.',
        ...[...rounds].map(([fanOut, measured]) => byCpu(fanOut, measured)),
      ],
    },
  ];
  if (options.profile) tables.push(...(await profileApi(say)));
  const targets = [...rounds].flatMap(([fanOut, measured]) =>
    judgeAccept(
      fanOut,
      measured.map(({ bare, single, batch }) => ({
        ...{ bare: bare.perSecond, single: single.perSecond, batch: batch.perSecond },
      })),
    ),
  );
  return { tables, raw: Object.fromEntries(rounds), targets };
};

function toRows(fanOut: FanOut, rounds: readonly Round[]): Cell[][] {
  const toRow = (name: keyof Round, label: string): Cell[] => {
    const rates = rounds.map((round) => round[name].perSecond);
    const ratioTo = (other: keyof Round) =>
      other === name ? NaN : median(rounds.map((round) => round[name].perSecond / round[other].perSecond));
    return [
      `${label}, fan-out ${fanOut}`,
      median(rates),
      `${Math.round(spread(rates) * 100)} %`,
      ratioTo('bare'),
      name === 'bare' ? NaN : ratioTo('single'),
      median(rounds.map((round) => round[name].cpuUs.api)),
      median(rounds.map((round) => round[name].cpuUs.redis)),
    ];
  };
  return [toRow('bare', 'bare route'), toRow('single', 'single'), toRow('batch', `batch of ${BATCH}`)];
}

/** Other programs disturb CPU less than rates. */
function byCpu(fanOut: FanOut, rounds: readonly Round[]): string {
  const sum = ({ cpuUs }: Accepted) => cpuUs.api + cpuUs.redis;
  const ratio = (a: keyof Round, b: keyof Round) => median(rounds.map((round) => sum(round[a]) / sum(round[b])));
  const [ofBare, ofSingle] = [ratio('bare', 'single').toFixed(2), ratio('single', 'batch').toFixed(2)];
  return `By the CPU of API and Redis alone, fan-out ${fanOut}: single ${ofBare} of the bare route, batch ${ofSingle} of single.`;
}

async function measureApi(fanOut: FanOut): Promise<Pick<Round, 'single' | 'batch'>> {
  return { single: await withApi({ fanOut }, measureSingles), batch: await withApi({ fanOut }, measureBatches) };
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
