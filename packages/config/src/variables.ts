import { ApiEnv } from './api-config.ts';
import { WorkerEnv } from './worker-config.ts';

/** The names of the variables that each process reads. */
export const VARIABLES = {
  api: Object.keys(ApiEnv.shape),
  worker: Object.keys(WorkerEnv.shape),
};
