import type { Finding } from '@herald/infra';
import { countOf } from '../output/count-of.ts';
import { spanText } from '../output/time-text.ts';
import type { Queues } from '../queues/read-queues.ts';
import { error, warning } from './check.ts';

/** What is due for longer than this is stuck, or there is more than the workers can send; in ms. */
export const STUCK_AFTER_MS = 30_000;

export function judgeWorkers({ workers, openTransitions }: Queues): Finding[] {
  if (workers > 0) return [];
  const start = 'start one: node apps/worker/dist/main.js';
  return [
    openTransitions > 0
      ? error(
          'no_worker',
          `no worker was seen lately, with something to send (pending: ${countOf(openTransitions, 'transition')}); ${start}`,
        )
      : warning('no_worker', `no worker was seen lately: transitions are accepted, and nothing is sent; ${start}`),
  ];
}

/** @param oldOwed marks "jobs owed" that no sweeper has taken for `STUCK_AFTER_MS` */
export function judgeWork({ workers, queues, backlogs, failedLately }: Queues, oldOwed: number): Finding[] {
  return [
    ...(workers > 0 ? queues.flatMap(judgeQueue) : []),
    ...(workers > 0 && oldOwed > 0
      ? [
          error(
            'owed_left',
            `jobs are owed for more than ${spanText(STUCK_AFTER_MS)} (${countOf(oldOwed, 'mark')}), so no sweeper works; ` +
              'restart the workers, and read what they log',
          ),
        ]
      : []),
    ...judgeBreakers(backlogs),
    ...(failedLately > 0
      ? [
          warning(
            'deliveries_failed',
            `${countOf(failedLately, 'delivery')} failed lately, all tries used up; ` +
              '"herald deliveries list --status failed" shows them, "herald replay" sends them once more',
          ),
        ]
      : []),
  ];
}

function judgeQueue({ shard, queue, waiting, active, oldestDueMs, isPaused }: Queues['queues'][number]): Finding[] {
  const name = `the queue ${queue} of shard ${shard}`;
  if (isPaused) {
    return [
      warning(
        'queue_paused',
        `${name} is paused by an operator, ${waiting} wait; resume it on the board (/admin/queues)`,
      ),
    ];
  }
  if (oldestDueMs < STUCK_AFTER_MS) return [];
  const fact = `${name} has had work due for ${spanText(oldestDueMs)}`;
  return [
    active === 0
      ? error('queue_stuck', `${fact}, and no worker takes it; restart the workers, with the same SHARDS as the API`)
      : warning('queue_behind', `${fact} although ${active} are being sent; start more workers, or raise CONCURRENCY`),
  ];
}

function judgeBreakers(backlogs: Queues['backlogs']): Finding[] {
  const open = backlogs.filter(({ state }) => state === 'breaker_open');
  if (open.length === 0) return [];
  const deliveries = open.reduce((sum, each) => sum + each.deliveries, 0);
  return [
    warning(
      'breaker_open',
      `${countOf(open.length, 'destination')} without an answer, for which ${countOf(deliveries, 'delivery')} must wait; ` +
        '"herald queues" names them; nothing else is held up',
    ),
  ];
}
