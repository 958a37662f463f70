import type { IQueueBackend } from 'bullmq';
import { refuse, UnsupportedBackend, type WorkerPart } from '../unsupported-backend.ts';

const WHAT = 'worker on the backend of a board';

/** Refuses what only a worker asks for. */
export class BoardOnlyBackend extends UnsupportedBackend implements Pick<IQueueBackend, WorkerPart> {
  moveToActive(): Promise<never> {
    return refuse(WHAT);
  }
  moveToCompleted(): Promise<never> {
    return refuse(WHAT);
  }
  moveToFailed(): Promise<never> {
    return refuse(WHAT);
  }
  moveToDelayed(): Promise<never> {
    return refuse(WHAT);
  }
  moveJobFromActiveToWait(): Promise<never> {
    return refuse(WHAT);
  }
  moveStalledJobsToWait(): Promise<never> {
    return refuse(WHAT);
  }
  extendLock(): Promise<never> {
    return refuse(WHAT);
  }
  extendLocks(): Promise<never> {
    return refuse(WHAT);
  }
  waitForJob(): Promise<never> {
    return refuse(WHAT);
  }
  disconnectBlocking(): Promise<never> {
    return refuse(WHAT);
  }
  reconnectBlocking(): Promise<never> {
    return refuse(WHAT);
  }
}
