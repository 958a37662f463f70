import type { Finding } from '@herald/runtime/finding';
import { countOf, spanText } from '@herald/runtime/text';

/** A delivery that is due for longer is stuck, or the workers have more work than they can do; in ms. */
const STUCK_AFTER_MS = 30_000;
const START = 'start one: node apps/worker/dist/main.js';

/** A problem of the pending work. */
export type WorkFinding = Pick<Finding, 'level' | 'code'> & {
  readonly text: string;
  readonly whatToDo: string;
};

/** The queue of a shard. */
export type QueueWork = {
  readonly shard: number;
  readonly queue: string;
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  readonly oldestDueMs: number;
  readonly isPaused: boolean;
};

/** All pending work. */
export type PendingWork = {
  /** Workers seen lately. */
  readonly workers: number;
  readonly queues: readonly QueueWork[];
  /** Receivers with an open breaker, and what waits for them. Callbacks to one origin count as one. */
  readonly unanswered: { readonly receivers: number; readonly deliveries: number };
  /** Receivers that an operator has paused, with what waits for them. */
  readonly stopped: { readonly receivers: number; readonly deliveries: number };
  readonly failedLately: number;
};

/** As every other finding is told: in one sentence. */
export function toFinding({ level, code, text, whatToDo }: WorkFinding): Finding {
  return { level, code, sentence: `${text}; ${whatToDo}` };
}

export function judgeWorkers({ workers, queues }: Pick<PendingWork, 'workers' | 'queues'>): WorkFinding[] {
  if (workers > 0) return [];
  const pending = queues.reduce((sum, { waiting, active, delayed }) => sum + waiting + active + delayed, 0);
  const text = 'no worker was seen lately';
  if (pending > 0) {
    const pendingText = `${text}, with something to send (pending: ${countOf(pending, 'delivery')})`;
    return [{ level: 'error', code: 'no_worker', text: pendingText, whatToDo: START }];
  }
  const idleText = `${text}: transitions are accepted, and nothing is sent`;
  return [{ level: 'warning', code: 'no_worker', text: idleText, whatToDo: START }];
}

export function judgeWork({ workers, queues, unanswered, stopped, failedLately }: PendingWork): WorkFinding[] {
  const findings = workers > 0 ? queues.flatMap((queue) => judgeQueue(queue) ?? []) : [];
  const { receivers, deliveries } = unanswered;
  if (receivers > 0) {
    findings.push({
      level: 'warning',
      code: 'breaker_open',
      text: `${countOf(receivers, 'receiver')} without an answer, for which ${countOf(deliveries, 'delivery')} must wait`,
      whatToDo: '"herald queues" names them; nothing else is held up',
    });
  }
  if (stopped.receivers > 0) {
    findings.push({
      level: 'warning',
      code: 'receivers_paused',
      text: `an operator has paused ${countOf(stopped.receivers, 'receiver')}, for which ${countOf(stopped.deliveries, 'delivery')} must wait`,
      whatToDo: '"herald queues" names them, "herald receivers resume" lets them go',
    });
  }
  if (failedLately > 0) {
    findings.push({
      level: 'warning',
      code: 'deliveries_failed',
      text: `${countOf(failedLately, 'delivery')} failed lately, all tries used up`,
      whatToDo: '"herald deliveries list --status failed" shows them, "herald replay" sends them once more',
    });
  }
  return findings;
}

function judgeQueue({ shard, queue, waiting, active, oldestDueMs, isPaused }: QueueWork): WorkFinding | undefined {
  const name = `the queue ${queue} of shard ${shard}`;
  const fact = `${name} has had work due for ${spanText(oldestDueMs)}`;
  if (isPaused) {
    return {
      level: 'warning',
      code: 'queue_paused',
      text: `${name} is paused by an operator, ${waiting} wait`,
      whatToDo: 'resume it on the board (/admin/queues)',
    };
  }
  if (oldestDueMs < STUCK_AFTER_MS) return undefined;
  if (active === 0) {
    return {
      level: 'error',
      code: 'queue_stuck',
      text: `${fact}, and no worker takes it`,
      whatToDo: 'restart the workers, with the same SHARDS as the API',
    };
  }
  return {
    level: 'warning',
    code: 'queue_behind',
    text: `${fact} although ${active} are being sent`,
    whatToDo: 'start more workers, or raise CONCURRENCY',
  };
}
