import type { Finding } from '@herald/runtime/findings/finding';
import { countOf } from '../output/count-of.ts';
import { spanText } from '../output/time-text.ts';
import type { QueueLine, Queues } from '../queues/read-queues.ts';
import { error, warning } from './check.ts';

/** A delivery that is due for longer is stuck, or the workers have more work than they can do; in ms. */
const STUCK_AFTER_MS = 30_000;
const START = 'start one: node apps/worker/dist/main.js';

export function judgeWorkers({ workers, queues }: Queues): Finding[] {
  if (workers > 0) return [];
  const pending = queues.reduce((sum, { waiting, active, delayed }) => sum + waiting + active + delayed, 0);
  const sentence = `no worker was seen lately, with something to send (pending: ${countOf(pending, 'delivery')}); ${START}`;
  if (pending > 0) return [error('no_worker', sentence)];
  return [warning('no_worker', `no worker was seen lately: transitions are accepted, and nothing is sent; ${START}`)];
}

export function judgeWork({ workers, queues, destinations, failedLately }: Queues): Finding[] {
  const findings = workers > 0 ? queues.flatMap((queue) => judgeQueue(queue) ?? []) : [];
  const open = destinations.filter(({ state }) => state === 'breaker_open');
  if (open.length > 0) {
    const waiting = open.reduce((sum, { deliveries }) => sum + deliveries, 0);
    const sentence =
      `${countOf(open.length, 'destination')} without an answer, for which ${countOf(waiting, 'delivery')} must wait; ` +
      '"herald queues" names them; nothing else is held up';
    findings.push(warning('breaker_open', sentence));
  }
  if (failedLately > 0) {
    const sentence =
      `${countOf(failedLately, 'delivery')} failed lately, all tries used up; ` +
      '"herald deliveries list --status failed" shows them, "herald replay" sends them once more';
    findings.push(warning('deliveries_failed', sentence));
  }
  return findings;
}

function judgeQueue({ shard, queue, waiting, active, oldestDueMs, isPaused }: QueueLine): Finding | undefined {
  const name = `the queue ${queue} of shard ${shard}`;
  const fact = `${name} has had work due for ${spanText(oldestDueMs)}`;
  if (isPaused) {
    const sentence = `${name} is paused by an operator, ${waiting} wait; resume it on the board (/admin/queues)`;
    return warning('queue_paused', sentence);
  }
  if (oldestDueMs < STUCK_AFTER_MS) return undefined;
  return active === 0
    ? error('queue_stuck', `${fact}, and no worker takes it; restart the workers, with the same SHARDS as the API`)
    : warning('queue_behind', `${fact} although ${active} are being sent; start more workers, or raise CONCURRENCY`);
}
