/** A map of at most `limit` entries: the oldest one makes room for a new one. */
export function createBoundedMap<Key, Value>(limit: number): Pick<Map<Key, Value>, 'get' | 'set' | 'delete'> {
  const entries = new Map<Key, Value>();
  return {
    get: (key) => entries.get(key),
    delete: (key) => entries.delete(key),
    set(key, value) {
      const oldest = entries.keys().next();
      if (entries.size >= limit && !entries.has(key) && oldest.done !== true) entries.delete(oldest.value);
      return entries.set(key, value);
    },
  };
}
