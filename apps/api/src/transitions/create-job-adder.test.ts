import type { OwedJobs } from '@herald/infra';
import type { AcceptedEmission } from './accept-transitions.ts';
import { createJobAdder, type JobAdderDeps } from './create-job-adder.ts';

const NOW = 1_000;
type Shard = ReturnType<JobAdderDeps['shardOf']>;

function emission(transitionId: string, workspaceId: string): AcceptedEmission {
  return { transitionId, workspaceId, event: 'task.done', acceptedAt: NOW, deliveryIds: [`dlv_${transitionId}`] };
}

/** Two shards, of which the second's Redis is away. */
function build() {
  const calls: (readonly OwedJobs[])[] = [];
  const leftOwed: string[][] = [];
  const shard = (lineUp: (owed: readonly OwedJobs[]) => Promise<void>) => ({ lineUp }) as unknown as Shard;
  const up = shard((owed) => {
    calls.push(owed);
    return Promise.resolve();
  });
  const down = shard(() => Promise.reject(new Error('away')));
  const adder = createJobAdder({
    shardOf: (workspaceId) => (workspaceId === 'ws_down' ? down : up),
    report: { jobsLeftOwed: (transitions) => leftOwed.push([...transitions]) },
    now: () => NOW,
  });
  return { adder, calls, leftOwed };
}

const idsOf = (owed: readonly OwedJobs[]) => owed.map(({ transitionId }) => transitionId);

test('what several requests accept in one turn goes into the line in one go', async () => {
  const { adder, calls } = build();
  await Promise.all([
    adder.addJobs([emission('trn_1', 'ws_a'), emission('trn_2', 'ws_b')]),
    adder.addJobs([emission('trn_3', 'ws_a')]),
    adder.addJobs([]),
  ]);
  expect(calls.map(idsOf)).toEqual([['trn_1', 'trn_2', 'trn_3']]);
  await adder.addJobs([emission('trn_4', 'ws_a')]);
  expect(calls.map(idsOf).at(-1)).toEqual(['trn_4']);
});

test('a shard that is away leaves its own transitions owed, and fails nobody', async () => {
  const { adder, calls, leftOwed } = build();
  await adder.addJobs([emission('trn_1', 'ws_a'), emission('trn_2', 'ws_down'), emission('trn_3', 'ws_down')]);
  expect(calls.map(idsOf)).toEqual([['trn_1']]);
  expect(leftOwed).toEqual([['trn_2', 'trn_3']]);
});
