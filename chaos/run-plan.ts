import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '@herald/test-kit';
import { describeAction, type Action } from './plan.ts';

export type Perform = {
  begin(action: Action): Promise<void>;
  end(action: Action): Promise<void>;
};

/**
 * Begins and ends every action at its time, at the latest at the end of the run. The actions of one target happen in
 * order. Returns failed begins and ends, such as a server that did not come back.
 */
export async function runPlan(
  plan: readonly Action[],
  seconds: number,
  perform: Perform,
  say: (line: string) => void,
): Promise<readonly string[]> {
  const steps = plan
    .flatMap((action) => [
      { atMs: action.atMs, action, step: 'begin' as const },
      { atMs: Math.min(action.atMs + action.forMs, seconds * 1_000), action, step: 'end' as const },
    ])
    .sort((a, b) => a.atMs - b.atMs);
  const startedAt = performance.now();
  const chains = new Map<string, Promise<void>>();
  for (const { atMs, action, step } of steps) {
    await pause(Math.max(0, startedAt + atMs - performance.now()));
    if (step === 'begin') say(describeAction(action));
    const target = targetOf(action);
    const before = chains.get(target) ?? Promise.resolve();
    const chain = before.then(() => perform[step](action));
    chain.catch(() => undefined); // told below, with all others
    chains.set(target, chain);
  }
  await pause(Math.max(0, startedAt + seconds * 1_000 - performance.now()));
  const ends = await Promise.allSettled(chains.values());
  return ends.flatMap((end) =>
    end.status === 'rejected' ? [`the plan was not carried out: ${messageOf(end.reason)}`] : [],
  );
}

function targetOf(action: Action): string {
  switch (action.kind) {
    case 'redis':
    case 'replicas':
      return 'redis';
    case 'history':
      return 'history';
    case 'receiver':
      return `receiver ${action.index}`;
    case 'process':
    case 'clock':
    case 'link':
      return `${action.kind} ${action.slot}`;
  }
}
