/** What goes first within a group: somebody waits for it; as usual; when nothing else is due. */
export const JOB_CLASSES = { urgent: 0, usual: 1, background: 2 } as const;
export type JobClass = keyof typeof JOB_CLASSES;

/** Between the classes' scores. Larger than any time in ms, and small enough for a double to keep every ms. */
export const CLASS_FACTOR = 1e13;

/**
 * Where a job stands among its group's waiting ones.
 * @param dueAt epoch ms
 */
export function scoreOf(jobClass: JobClass, dueAt: number): number {
  return JOB_CLASSES[jobClass] * CLASS_FACTOR + dueAt;
}
