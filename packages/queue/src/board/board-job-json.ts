import type { JobJson } from 'bullmq';
import type { BoardJob } from './board-jobs.ts';

/** @param pausedUntil until when the group keeps the job waiting, epoch ms; 0: it doesn't */
export function toBoardJobJson(id: string, job: BoardJob, pausedUntil: number): JobJson {
  const goesAt = job.dueAt === undefined ? undefined : Math.max(job.dueAt, pausedUntil);
  // Under both names: otherwise bull-board shows the delay as changed.
  const delayed = goesAt !== undefined && goesAt > job.addedAt ? { delay: goesAt - job.addedAt } : {};
  const pause = pausedUntil > (job.dueAt ?? 0) ? { pausedUntil: new Date(pausedUntil).toISOString() } : {};
  return {
    id,
    name: job.name,
    data: JSON.stringify({ ...job.data, ...pause }),
    opts: delayed,
    ...delayed,
    progress: 0,
    attemptsMade: job.attemptsMade,
    attemptsStarted: job.attemptsMade,
    stalledCounter: 0,
    timestamp: job.addedAt,
    ...(job.startedAt !== undefined && { processedOn: job.startedAt }),
    ...(job.endedAt !== undefined && { finishedOn: job.endedAt }),
    failedReason: job.failedReason ?? '',
    returnvalue: 'null',
  };
}
