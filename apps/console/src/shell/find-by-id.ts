/** The page of an id, by its form; undefined when it has that of none. */
export function findPage(text: string): string | undefined {
  const id = text.trim();
  if (!/^[a-z]+_[a-z0-9]+$/.test(id)) return undefined;
  if (id.startsWith('dlv_')) return `/console/deliveries/${id}`;
  if (id.startsWith('task_')) return `/console/tasks/${id}`;
  return id.startsWith('wh_') ? `/console/receivers/${id}` : undefined;
}
