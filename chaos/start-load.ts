import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '@herald/test-kit';
import { actionRequired, CANCELED, checkpoint, DONE, START } from '../tests/support/reports.ts';
import { createTask, type ChaosTask, type CreateTaskDeps } from './create-task.ts';
import type { ChaosWorkspace } from './found-workspaces.ts';
import type { Ledger } from './ledger.ts';
import { createRandom, type Random } from './random.ts';
import type { FactReporter, Item } from './report-facts.ts';

export type LoadDeps = CreateTaskDeps & {
  readonly seed: number;
  readonly workspaces: readonly ChaosWorkspace[];
  readonly reporter: FactReporter;
  readonly ledger: Ledger;
};

export type Load = {
  /** Begins no new Task, and waits until the running ones have ended. */
  stop(): Promise<void>;
};

const SINGLE_LANES = 8;
const BATCH_LANES = 2;
const TASKS_OF_A_BATCH = 8;
const REPEATED_SHARE = 0.15;

/** Executors and customers that take Tasks from beginning to end, and repeat every request without an answer. */
export function startLoad(deps: LoadDeps): Load {
  const { seed, ledger } = deps;
  const stopping = new AbortController();
  const run = async (name: string, round: (random: Random) => Promise<void>) => {
    const random = createRandom(seed, name);
    while (!stopping.signal.aborted) {
      try {
        await round(random);
      } catch (error) {
        ledger.violations.push(`${name}: ${messageOf(error)}`);
        await pause(1_000);
      }
    }
  };
  const lanes = [
    ...Array.from({ length: SINGLE_LANES }, (_, lane) => run(`single ${lane}`, (random) => tellTask(deps, random))),
    ...Array.from({ length: BATCH_LANES }, (_, lane) => run(`batch ${lane}`, (random) => tellBatch(deps, random))),
  ];
  return {
    async stop() {
      stopping.abort();
      await Promise.all(lanes);
    },
  };
}

/** One Task, one report at a time. */
async function tellTask(deps: LoadDeps, random: Random): Promise<void> {
  const { reporter, insist } = deps;
  const task = await createTask(deps, random.pick(deps.workspaces), random);
  const tell = async (item: Omit<Item, 'task'>, by?: 'cancel' | 'close') => {
    const { transitionId } = await reporter.report({ task, ...item }, by);
    if (random.chance(REPEATED_SHARE)) await expectDuplicate(deps, { task, ...item }, transitionId);
    await pause(random.between(20, 150));
    return transitionId;
  };
  const end = random.next();
  if (end < 0.1) {
    const transitionId = await tell({ report: DONE, event: 'task.done' }, 'close');
    await expectDuplicate(deps, { task, report: DONE, event: 'task.done' }, transitionId);
    return;
  }
  await tell({ report: START });
  const checkpoints = random.between(1, 5);
  for (let index = 0; index < checkpoints; index++) {
    await tell({ report: checkpoint(`c${index}`), event: 'task.check_in' });
  }
  if (random.chance(0.3)) {
    await tell({ report: actionRequired(1), event: 'task.requires_action' });
    const { key } = task.workspace.client;
    const answer = await insist('POST', `/tasks/${task.id}/approvals/pay/resolve`, {
      key,
      body: { decision: 'yes', actionVersion: 1 },
    });
    if (answer.status >= 300) throw new Error(`a resolution was answered ${answer.text}`);
  }
  if (end < 0.25) await tell({ report: CANCELED, event: 'task.canceled' }, 'cancel');
  else if (end < 0.4) await tell({ report: CANCELED, event: 'task.canceled' });
  else if (end < 0.5) await tell({ report: DONE, event: 'task.done' }, 'close');
  else await tell({ report: DONE, event: 'task.done' });
}

/** Several Tasks of several workspaces, reported in batches, some reports twice in one batch. */
async function tellBatch(deps: LoadDeps, random: Random): Promise<void> {
  const { reporter, workspaces } = deps;
  const tasks: ChaosTask[] = [];
  for (let count = 0; count < TASKS_OF_A_BATCH; count++) {
    tasks.push(await createTask(deps, random.pick(workspaces), random));
  }
  const tell = async (item: Omit<Item, 'task'>) => {
    const items = tasks.flatMap((task) => (random.chance(REPEATED_SHARE) ? [task, task] : [task]));
    await reporter.reportBatch(items.map((task) => ({ task, ...item })));
    await pause(random.between(100, 600));
  };
  await tell({ report: START });
  const checkpoints = random.between(1, 4);
  for (let index = 0; index < checkpoints; index++) {
    await tell({ report: checkpoint(`c${index}`), event: 'task.check_in' });
  }
  await tell({ report: DONE, event: 'task.done' });
}

/** Checks that the same fact, reported again on the canonical path, is known and has the same id. */
export async function expectDuplicate(
  { reporter, ledger }: Pick<LoadDeps, 'reporter' | 'ledger'>,
  item: Item,
  transitionId: string,
): Promise<void> {
  ledger.counts.repeated++;
  const again = await reporter.report(item);
  if (again.duplicate && again.transitionId === transitionId) return;
  ledger.violations.push(
    `${item.report.type} of ${item.task.id}, known as ${transitionId}, was taken again: ${JSON.stringify(again)}`,
  );
}
