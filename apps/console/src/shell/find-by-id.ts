/** The id of a transition: the `id` in the body of an event. It has no page of its own. */
export function isTransition(text: string): boolean {
  return /^trn_[a-z2-7]{32}$/.test(text.trim());
}

/** The page of the Task of these deliveries, or of the first where there is no Task. */
export function pageOfTransition(deliveries: readonly { id: string; taskId: string | null }[]): string | undefined {
  const [first] = deliveries;
  if (!first) return undefined;
  return first.taskId === null ? `/console/deliveries/${first.id}` : `/console/tasks/${first.taskId}`;
}

/** The page of an id, by its form; undefined when it has that of none. */
export function findPage(text: string): string | undefined {
  const id = text.trim();
  if (!/^[a-z]+_[a-z0-9]+$/.test(id)) return undefined;
  if (id.startsWith('dlv_')) return `/console/deliveries/${id}`;
  if (id.startsWith('task_')) return `/console/tasks/${id}`;
  return id.startsWith('wh_') ? `/console/receivers/${id}` : undefined;
}
