import type { IQueueBackend } from 'bullmq';
import { refuse, UnsupportedBackend, type BoardPart } from '../unsupported-backend.ts';

const WHAT = 'view of its jobs on the backend of a worker';

/** Refuses what only a board asks for. */
export class WorkerOnlyBackend extends UnsupportedBackend implements Pick<IQueueBackend, BoardPart> {
  getState(): Promise<never> {
    return refuse(WHAT);
  }
  isMaxed(): Promise<never> {
    return refuse(WHAT);
  }
  isJobInState(): Promise<never> {
    return refuse(WHAT);
  }
  getJobData(): Promise<never> {
    return refuse(WHAT);
  }
  getJobLogs(): Promise<never> {
    return refuse(WHAT);
  }
  getCounts(): Promise<never> {
    return refuse(WHAT);
  }
  getRanges(): Promise<never> {
    return refuse(WHAT);
  }
  retryFinishedJob(): Promise<never> {
    return refuse(WHAT);
  }
  promote(): Promise<never> {
    return refuse(WHAT);
  }
  getQueueMetaField(): Promise<never> {
    return refuse(WHAT);
  }
  getQueueMetaFields(): Promise<never> {
    return refuse(WHAT);
  }
  getQueueMeta(): Promise<never> {
    return refuse(WHAT);
  }
  hasQueueMetaField(): Promise<never> {
    return refuse(WHAT);
  }
}
