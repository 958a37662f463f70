import type { JobJson } from 'bullmq';

/** What BullMQ's worker is given of a job. Its data stays behind: the processor asks the backend for the reservation. */
export function toJobJson(id: string): JobJson {
  return {
    id,
    name: 'job',
    data: '{}',
    opts: { attempts: 0 },
    progress: 0,
    attemptsMade: 0,
    attemptsStarted: 1,
    stalledCounter: 0,
    timestamp: 0,
    // This machine's clock: BullMQ renews leases by it, and nothing else is decided by it.
    processedOn: Date.now(),
    failedReason: '',
    returnvalue: 'null',
  };
}
