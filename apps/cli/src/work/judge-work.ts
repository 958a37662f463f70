import type { Finding } from '@herald/runtime/findings/finding';
import * as work from '@herald/store/backlog/judge-work';
import type { Queues } from './read-queues.ts';

export function judgeWorkers(queues: Queues): Finding[] {
  return work.judgeWorkers(toPendingWork(queues)).map(work.toFinding);
}

export function judgeWork(queues: Queues): Finding[] {
  return work.judgeWork(toPendingWork(queues)).map(work.toFinding);
}

function toPendingWork({ workers, queues, receivers, failedLately }: Queues): work.PendingWork {
  const countIn = (wanted: 'breaker_open' | 'stopped') => {
    const found = receivers.filter(({ state }) => state === wanted);
    return { receivers: found.length, deliveries: found.reduce((sum, each) => sum + each.deliveries, 0) };
  };
  return { workers, queues, unanswered: countIn('breaker_open'), stopped: countIn('stopped'), failedLately };
}
