import { createStore, useStore } from '../state/create-store.ts';

const SHOWN_MS = 5_000;
const announced = createStore<{ readonly text: string } | undefined>(undefined);

/** Says what happened, on the screen and to screen readers, for a few seconds. */
export function announce(text: string): void {
  const said = { text };
  announced.set(said);
  setTimeout(() => {
    if (announced.get() === said) announced.set(undefined);
  }, SHOWN_MS);
}

/** Where announcements show. It is always there, since screen readers only notice changes. */
export function Announcements() {
  const said = useStore(announced);
  return (
    <div class="announcements" role="status" aria-live="polite">
      {said && <p>{said.text}</p>}
    </div>
  );
}
