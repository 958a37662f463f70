import { THIS_BUILD } from '../builds.ts';
import { DELIVERIES_PER_SECOND, KEPT, measureHistoryMemory } from '../measure-history-memory.ts';
import { measureLatency, type Latencies } from '../measure-latency.ts';
import type { Scenario } from '../scenario.ts';
import { startBenchHistory } from '../start-bench-history.ts';
import { median, percentile } from '../statistics.ts';
import { judgeOnce, judgeRounds } from '../targets.ts';

const LOAD = { name: '500/s, fan-out 1', deliveriesPerSecond: DELIVERIES_PER_SECOND, receivers: 1, fanOut: 1 };
const LATENCY_SECONDS = 20;
const VARIANTS = ['without', 'moving', 'catching up'] as const;
type Variant = (typeof VARIANTS)[number];
const SHARES = [0.5, 0.9, 0.99, 1] as const;

/** What a load feels of a history: latency while deliveries move, and memory in the course of time. */
export const historyLoad: Scenario = async ({ options: { seconds, repeats }, say }) => {
  const measured = new Map<Variant, Latencies[]>(VARIANTS.map((variant) => [variant, []]));
  for (let round = 1; round <= repeats; round++) {
    for (const variant of VARIANTS) {
      say(`history-load, latency ${variant}, round ${round} of ${repeats}`);
      measured.get(variant)?.push(await measure(variant));
    }
  }
  const roundsOf = (variant: Variant) => measured.get(variant) ?? [];
  const shareOf = (variant: Variant, share: number) =>
    roundsOf(variant).map(({ fromAnswer }) => percentile(fromAnswer, share));
  say(`history-load, memory over ${seconds} s`);
  const memory = await measureHistoryMemory(seconds, say);
  const { samples, deliveries, rows, workerCpu } = memory;
  const judgeLatency = (variant: Variant, share: number) =>
    judgeRounds(
      'historyLatency',
      `history-load: p${share * 100} ${variant}, ms`,
      shareOf(variant, share).map((each, index) => ({
        measured: each,
        floor: shareOf('without', share)[index] ?? NaN,
      })),
    );
  return {
    tables: [
      {
        title: `Latency with a history: ${LOAD.name}, ms from the 2xx to the arrival, ${LATENCY_SECONDS} s, median of ${repeats}`,
        columns: ['history', 'p50', 'p90', 'p99', 'max'],
        rows: VARIANTS.map((variant) => [variant, ...SHARES.map((share) => median(shareOf(variant, share)))]),
        notes: [
          'Moving: each delivery moves two seconds after it has settled. Catching up: PostgreSQL was away during the warm-up of 25 s, and what waited moves in the first seconds.',
        ],
      },
      {
        title: `Memory of Redis with a history: ${DELIVERIES_PER_SECOND} deliveries/s at fan-out 10 for ${seconds} s, kept for ${KEPT}`,
        columns: ['after, s', 'MiB', 'settled deliveries in Redis'],
        rows: samples.map(({ atSeconds, MiB, waiting }) => [atSeconds, MiB, waiting]),
        notes: [
          `Tasks are kept for ${KEPT} too. Of ${deliveries} deliveries ${rows} were in PostgreSQL in the end. The worker used ${Math.round(workerCpu * 100)} % of a core.`,
        ],
      },
    ],
    raw: {
      latency: Object.fromEntries(
        VARIANTS.map((variant) => [variant, SHARES.map((share) => [share, shareOf(variant, share)])]),
      ),
      memory,
    },
    targets: [
      ...(['moving', 'catching up'] as const).flatMap((variant) =>
        [0.5, 0.99].map((share) => judgeLatency(variant, share)),
      ),
      judgeOnce(
        'historyGrowth',
        'history-load: MiB of Redis in the end',
        samples.at(-1)?.MiB ?? NaN,
        samples[1]?.MiB ?? NaN,
      ),
    ],
  };
};

async function measure(variant: Variant): Promise<Latencies> {
  const measurement = { load: LOAD, seconds: LATENCY_SECONDS, build: THIS_BUILD };
  if (variant === 'without') return await measureLatency(measurement);
  await using history = await startBenchHistory();
  const { postgres } = history;
  const variables = { HISTORY_URL: postgres.url, RETENTION: '2s' };
  if (variant === 'moving') return await measureLatency({ ...measurement, variables });
  await postgres.stop();
  return await measureLatency({ ...measurement, variables, beforeLoad: () => postgres.restart() });
}
