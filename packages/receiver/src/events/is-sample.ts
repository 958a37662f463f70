import type { HeraldEvent } from './event.ts';

/**
 * Whether an event is a sample, which somebody sent with the test operation: it is signed like any other, and its Task
 * doesn't exist. Go by this and not by the header `x-service-sample`, which no signature covers.
 */
export function isSample(event: HeraldEvent): boolean {
  return 'task' in event && event.task.id.startsWith('task_sample');
}
