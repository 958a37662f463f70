import { createBoundedMap } from '@herald/runtime/async/bounded-map';

/** Remembers what `load` finds. It asks again for what was not found, and for what the caller forgets. */
export function createLookupCache<Key, Value>(limit: number, load: (key: Key) => Promise<Value>) {
  const cache = createBoundedMap<Key, Value>(limit);
  return {
    find: async (key: Key): Promise<Value> => {
      const known = cache.get(key);
      if (known !== undefined) return known;
      const found = await load(key);
      if (found !== undefined) cache.set(key, found);
      return found;
    },
    forget: (key: Key): void => {
      cache.delete(key);
    },
  };
}
