/** The order of jobs within a group: `urgent` first; `background` only when no other job is due. */
export const JOB_CLASSES = { urgent: 0, usual: 1, background: 2 } as const;
export type JobClass = keyof typeof JOB_CLASSES;

/**
 * The distance between the classes' scores: larger than any time in ms, and small enough for a double to keep every ms.
 */
export const CLASS_FACTOR = 1e13;

/**
 * The score of a job among the waiting jobs of its group.
 * @param dueAt epoch ms
 */
export function scoreOf(jobClass: JobClass, dueAt: number): number {
  return JOB_CLASSES[jobClass] * CLASS_FACTOR + dueAt;
}
