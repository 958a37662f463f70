import { deliveryIdOf } from '@herald/core';
import type { Evidence } from './evidence.ts';
import { judgeOrder } from './judge-run.ts';
import { createKnownEndpoint } from './known-endpoint.ts';
import type { Arrival } from './start-host.ts';

const TRIES = 3;

type Sent = {
  readonly sequence: number;
  /** Default: after the one before. */
  readonly at?: number;
  readonly task?: string;
  readonly isReleased?: boolean;
  readonly transition?: string;
};

type Run = {
  readonly sent: readonly Sent[];
  readonly isOrdered?: boolean;
  /** Its endpoint was disabled at this time. */
  readonly offAt?: number;
  /** Attempts of the first event of the Task before anything else was sent. */
  readonly attempts?: number;
};

const transitionOf = ({ sequence, transition = `trn_${sequence}` }: Sent) => transition;

function arrivalOf(sent: Sent, index: number): Arrival {
  const { sequence, at = 1_000 + index, task = 'task_1', isReleased = false } = sent;
  const id = transitionOf(sent);
  const rawBody = Buffer.from(JSON.stringify({ id, sequence, task: { id: task } }));
  const headers = isReleased ? { 'x-service-ordering': 'released' } : {};
  const request = { method: 'POST', path: '/in', headers, rawBody, receivedAt: at };
  return { answer: 200, host: 0, deliveryId: deliveryIdOf(id, 'wh_1'), request };
}

function judge({ sent, isOrdered = true, offAt, attempts = 0 }: Run): string[] {
  const first = { id: 'wh_1', workspaceId: 'ws_1', path: '/in', secret: undefined, events: [], host: 0 };
  const endpoint = createKnownEndpoint({ ...first, isOrdered });
  if (offAt !== undefined) endpoint.enabled.change({ value: false, from: offAt, by: offAt, until: offAt });
  const fact = (each: Sent) => ({
    ...{ transitionId: transitionOf(each), taskId: 'task_1', workspaceId: 'ws_1', event: 'task.check_in' as const },
    ...{ from: 500, by: 600, report: { type: 'start' as const } },
  });
  const evidence: Evidence = {
    facts: new Map(sent.map((each) => [transitionOf(each), fact(each)])),
    endpoints: [endpoint],
    arrivals: sent.map(arrivalOf),
    records: [
      {
        ...{ id: deliveryIdOf('trn_1', 'wh_1'), endpointId: 'wh_1', transitionId: 'trn_1', status: 'delivered' },
        ...{ tries: attempts, createdAt: 500, isCarried: false },
        attempts: Array.from({ length: attempts }, (_, index) => ({ at: 700 + index, durationMs: 1 })),
      },
    ],
    redeliveries: [],
    replays: [],
    receivers: { shown: [], at: 0 },
    triesOfSchedule: TRIES,
    latestAfterMs: 5_000,
    mayForgetUnanswered: false,
  };
  return judgeOrder(evidence);
}

const WRONG = [{ sequence: 2 }, { sequence: 1 }];

test.each<{ when: string; run: Run }>([
  { when: 'events go in order', run: { sent: [{ sequence: 1 }, { sequence: 2 }, { sequence: 5 }] } },
  { when: 'an earlier one comes again', run: { sent: [{ sequence: 1 }, { sequence: 2 }, { sequence: 1 }] } },
  { when: 'Tasks overtake each other', run: { sent: [{ sequence: 2 }, { sequence: 1, task: 'task_2' }] } },
  {
    when: 'the later one says that it was released',
    run: { sent: [{ sequence: 2, isReleased: true }, { sequence: 1 }] },
  },
  { when: 'the endpoint asks for no order', run: { sent: WRONG, isOrdered: false } },
  { when: 'the endpoint may have been off, which cancels', run: { sent: WRONG, offAt: 800 } },
  { when: 'the earlier one had failed before it arrived', run: { sent: WRONG, attempts: TRIES } },
  {
    when: 'a transition was lost and got another sequence',
    run: { sent: [{ sequence: 2, transition: 'trn_x' }, { sequence: 1 }, { sequence: 3, transition: 'trn_x' }] },
  },
])('nothing is wrong when $when', ({ run }) => {
  expect(judge(run)).toEqual([]);
});

test.each<{ when: string; run: Run }>([
  { when: 'a later event is first sent before an earlier one', run: { sent: WRONG } },
  {
    when: 'only the earlier one says that it was released',
    run: { sent: [{ sequence: 2 }, { sequence: 1, isReleased: true }] },
  },
  { when: 'the endpoint was off only afterwards', run: { sent: WRONG, offAt: 2_000 } },
  { when: 'the earlier one had tries left', run: { sent: WRONG, attempts: TRIES - 1 } },
  { when: 'it says so only when it comes again', run: { sent: [...WRONG, { sequence: 2, isReleased: true }] } },
])('it is told when $when', ({ run }) => {
  expect(judge(run)).toEqual([
    `${deliveryIdOf('trn_2', 'wh_1')}, event 2 of its Task, was sent to wh_1 before event 1, ${deliveryIdOf('trn_1', 'wh_1')}`,
  ]);
});
