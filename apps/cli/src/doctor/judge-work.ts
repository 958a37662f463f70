import type { Finding } from '@herald/runtime/findings/finding';
import { countOf } from '../output/count-of.ts';
import { spanText } from '../output/time-text.ts';
import type { QueueLine, Queues } from '../queues/read-queues.ts';
import { error, warning } from './check.ts';

/** What is due for longer than this is stuck, or there is more than the workers can send; in ms. */
const STUCK_AFTER_MS = 30_000;

export function judgeWorkers({ workers, queues }: Queues): Finding[] {
  if (workers > 0) return [];
  const pending = queues.reduce((sum, { waiting, active, delayed }) => sum + waiting + active + delayed, 0);
  const start = 'start one: node apps/worker/dist/main.js';
  return [
    pending > 0
      ? error(
          'no_worker',
          `no worker was seen lately, with something to send (pending: ${countOf(pending, 'delivery')}); ${start}`,
        )
      : warning('no_worker', `no worker was seen lately: transitions are accepted, and nothing is sent; ${start}`),
  ];
}

export function judgeWork({ workers, queues, destinations, failedLately }: Queues): Finding[] {
  return [
    ...(workers > 0 ? queues.flatMap(judgeQueue) : []),
    ...judgeBreakers(destinations),
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

function judgeQueue({ shard, queue, waiting, active, oldestDueMs, isPaused }: QueueLine): Finding[] {
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

function judgeBreakers(destinations: Queues['destinations']): Finding[] {
  const open = destinations.filter(({ state }) => state === 'breaker_open');
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
