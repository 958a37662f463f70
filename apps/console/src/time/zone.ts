import { createStore } from '../state/create-store.ts';

const KEY = 'herald.utc';

/** Frames without a right to storage throw at every touch of it. */
function readQuietly<T>(touch: () => T): T | undefined {
  try {
    return touch();
  } catch {
    return undefined;
  }
}

/** Whether times are shown in UTC, as logs and bodies have them, or in the reader's zone. The browser keeps the choice. */
export const showsUtc = createStore(readQuietly(() => localStorage.getItem(KEY)) === 'true');

export function switchUtc(): void {
  const isOn = !showsUtc.get();
  readQuietly(() => {
    if (isOn) localStorage.setItem(KEY, 'true');
    else localStorage.removeItem(KEY);
  });
  showsUtc.set(isOn);
}
