import { InvalidTransitionError, newTaskId, type TransitionReport } from '@herald/core';
import { createKeyspace } from '@herald/store/keys/keys';
import type { WriteProof } from '@herald/store/redis/await-replication';
import { createAcceptReplicated } from './accept-replicated.ts';
import type { AcceptedTransition } from './accept-transitions.ts';

const TASK_ID = newTaskId(0);
const KEYSPACE = createKeyspace(1);
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const ACCEPTED: AcceptedTransition = { transitionId: 'trn_1', taskId: TASK_ID, status: 'running', duplicate: false };

/** What comes of a report that was accepted like this, and which proofs were asked for. */
async function accept(report: TransitionReport, result: AcceptedTransition | InvalidTransitionError, isThere = true) {
  const proofs: WriteProof[] = [];
  const acceptReplicated = createAcceptReplicated({
    acceptTransitions: () => Promise.resolve([result]),
    findTaskWorkspace: () => Promise.resolve('ws_1'),
    awaitReplication: (proof) => {
      proofs.push(proof);
      return Promise.resolve(isThere);
    },
    keyspace: KEYSPACE,
    logger: silent,
  });
  const [answer] = await acceptReplicated([{ taskId: TASK_ID, report }]);
  return { answer, proofs };
}

const START: TransitionReport = { type: 'start' };
const checkpoint = (material: boolean): TransitionReport => ({
  type: 'checkpoint',
  checkpointId: 'c1',
  canonical: true,
  material,
  outcome: { summary: 'so far' },
});
const DIFFERENT = { ...ACCEPTED, duplicate: true, differs: true } as const;

test.each<{ when: string; report: TransitionReport; result: AcceptedTransition; field: string; least: number }>([
  { when: 'a start', report: START, result: ACCEPTED, field: 'start', least: 0 },
  { when: 'a silent checkpoint', report: checkpoint(false), result: ACCEPTED, field: 'checkpoint:c1', least: 0 },
  // It may have been known as a silent one before.
  { when: 'one that emits', report: checkpoint(true), result: ACCEPTED, field: 'checkpoint:c1', least: 1 },
  { when: 'one that differs', report: checkpoint(true), result: DIFFERENT, field: 'checkpoint:c1', least: 1 },
  {
    when: 'one that a closed Task knows as silent',
    report: checkpoint(true),
    result: { ...DIFFERENT, status: 'done' },
    field: 'checkpoint:c1',
    least: 0,
  },
])('$when is replicated once the fact has a sequence of at least $least', async ({ report, result, field, least }) => {
  const { answer, proofs } = await accept(report, result);
  expect(answer).toBe(result);
  expect(proofs).toEqual([{ key: KEYSPACE.of('ws_1').facts(TASK_ID), field, least }]);
});

test('what too few replicas have is unavailable, and what was refused needs no replica', async () => {
  expect((await accept(START, ACCEPTED, false)).answer).toMatchObject({ code: 'unavailable' });
  const refusal = new InvalidTransitionError('no');
  expect(await accept(START, refusal, false)).toEqual({ answer: refusal, proofs: [] });
});
