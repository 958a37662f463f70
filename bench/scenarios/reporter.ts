import { createExecutorClient, createReporter, type Transition } from '@herald/client';
import { checkIn, reportInBatches, type ReportedItem } from '../clients.ts';
import { withApi, type PreparedApi } from './accept.ts';
import type { Scenario } from '../run-scenarios.ts';
import { type Cell, median } from '../table.ts';

/** As a reporter sends them. */
const BATCH = 500;
const BATCHES_AT_A_TIME = 4;
const FAN_OUT = 1;

type Run = (api: PreparedApi, items: readonly ReportedItem[]) => Promise<unknown>;

const WAYS: readonly { readonly name: string; readonly run: Run }[] = [
  {
    name: 'batches by hand, over plain connections',
    run: ({ batch }, items) => reportInBatches(batch, items, { batch: BATCH, width: BATCHES_AT_A_TIME }),
  },
  {
    name: 'batches by hand, over the client',
    run: async (api, items) => {
      const { reportTransitions } = clientOf(api);
      const batches = Array.from({ length: Math.ceil(items.length / BATCH) }, (_, index) =>
        items.slice(index * BATCH, (index + 1) * BATCH).map(toTransition),
      ).values();
      const send = async () => {
        for (const transitions of batches) await reportTransitions({ body: { transitions }, idempotencyKey: false });
      };
      await Promise.all(Array.from({ length: BATCHES_AT_A_TIME }, send));
    },
  },
  {
    name: 'the reporter, one report at a time',
    run: async (api, items) => {
      const reporter = createReporter(clientOf(api));
      const outcomes: Promise<unknown>[] = [];
      for (const item of items) {
        await reporter.ready();
        outcomes.push(reporter.report(toTransition(item)));
      }
      await Promise.all(outcomes);
      await reporter.close();
    },
  },
];

/** Transitions per second of the client's reporter, beside batches that are made by hand. No worker runs. */
export const reporter: Scenario = async ({ options: { count, repeats }, say }) => {
  const measured: { name: string; perSecond: number[] }[] = WAYS.map(({ name }) => ({ name, perSecond: [] }));
  for (let round = 1; round <= repeats; round++) {
    for (const [index, { name, run }] of WAYS.entries()) {
      say(`reporter, ${name}, round ${round} of ${repeats}`);
      measured[index]?.perSecond.push(await withApi({ fanOut: FAN_OUT }, (api) => measure(api, count, run)));
    }
  }
  const floor = median(measured[0]?.perSecond ?? []);
  const rows = measured.map(({ name, perSecond }): Cell[] => [name, median(perSecond), median(perSecond) / floor]);
  const table = {
    title: `Reporter: ${count} transitions, fan-out ${FAN_OUT}, median of ${repeats}`,
    columns: ['way', 'transitions/s', 'of by hand'],
    rows,
    notes: [
      `Batches of ${BATCH}, ${BATCHES_AT_A_TIME} under way. The reporting program shares the processors with API and Redis.`,
    ],
  };
  return { tables: [table], raw: { measured }, targets: [] };
};

async function measure(api: PreparedApi, count: number, run: Run): Promise<number> {
  const items = Array.from({ length: count * 1.2 }, (_, index): ReportedItem => ({
    taskId: api.taskIds[index % api.taskIds.length] ?? '',
    report: checkIn(index),
  }));
  // The rest warms the processes up.
  await run(api, items.slice(count));
  const startedAt = performance.now();
  await run(api, items.slice(0, count));
  return count / ((performance.now() - startedAt) / 1_000);
}

function clientOf({ port, executorKey }: PreparedApi) {
  return createExecutorClient({ baseUrl: `http://127.0.0.1:${port}`, key: executorKey });
}

function toTransition({ taskId, report }: ReportedItem): Transition {
  return { taskId, ...report } as Transition;
}
