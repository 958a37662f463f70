import type { JobJson } from 'bullmq';

/** A job as BullMQ's worker gets it, without data: the processor asks the backend for the reservation. */
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
    // This machine's clock: BullMQ uses it only to renew leases.
    processedOn: Date.now(),
    failedReason: '',
    returnvalue: 'null',
  };
}
