import { useEffect, useState } from 'preact/hooks';

/** One value that several components show. */
export function createStore<T>(initial: T) {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next: T) {
      value = next;
      for (const tell of listeners) tell();
    },
    /** Returns how to stop listening. */
    subscribe(tell: () => void) {
      listeners.add(tell);
      return () => {
        listeners.delete(tell);
      };
    },
  };
}
export type Store<T> = ReturnType<typeof createStore<T>>;

export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(store.get());
  useEffect(() => {
    // It may have changed between the first look and now.
    setValue(store.get());
    return store.subscribe(() => {
      setValue(store.get());
    });
  }, [store]);
  return value;
}
