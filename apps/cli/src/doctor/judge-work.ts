import type { Finding } from '@herald/runtime/findings/finding';
import * as work from '@herald/store/operators/judge-work';
import type { Queues } from '../queues/read-queues.ts';

export function judgeWorkers(queues: Queues): Finding[] {
  return work.judgeWorkers(toPendingWork(queues)).map(toFinding);
}

export function judgeWork(queues: Queues): Finding[] {
  return work.judgeWork(toPendingWork(queues)).map(toFinding);
}

function toPendingWork({ workers, queues, receivers, failedLately }: Queues): work.PendingWork {
  const open = receivers.filter(({ state }) => state === 'breaker_open');
  const deliveries = open.reduce((sum, each) => sum + each.deliveries, 0);
  return { workers, queues, unanswered: { receivers: open.length, deliveries }, failedLately };
}

function toFinding({ level, code, text, whatToDo }: work.WorkFinding): Finding {
  return { level, code, sentence: `${text}; ${whatToDo}` };
}
