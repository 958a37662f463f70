import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { createStore, useStore } from '../state/create-store.ts';
import { texts } from '../texts/texts.ts';

type DialogProps = {
  readonly title: string;
  readonly onClose: () => void;
  /** Asked before Escape or the cross closes it; false: it stays. */
  readonly mayClose?: () => boolean;
  readonly children: ComponentChildren;
};

/** A dialog above the page. The browser keeps the focus in it, gives it back, and closes it at Escape. */
export function Dialog({ title, onClose, mayClose = () => true, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  const titleId = useId();
  useEffect(() => {
    const dialog = ref.current;
    const opener = document.activeElement;
    dialog?.showModal();
    return () => {
      isGone.current = true;
      dialog?.close();
      // It is gone from the page before the browser can do this by itself.
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby={titleId}
      onCancel={(event) => {
        if (!mayClose()) event.preventDefault();
      }}
      onClose={() => {
        // What closed it may have put another dialog in its place.
        if (isGone.current) return;
        if (mayClose()) onClose();
        // A browser asks only once, and closes at the next Escape whatever it was told.
        else ref.current?.showModal();
      }}
    >
      <header class="dialog-head">
        <h2 id={titleId}>{title}</h2>
        <button
          type="button"
          class="icon-button"
          aria-label={texts.close}
          onClick={() => {
            if (mayClose()) onClose();
          }}
        >
          ✕
        </button>
      </header>
      {children}
      {/* The rest of the page is out of reach while the dialog is open. */}
      <Announcements />
    </dialog>
  );
}

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
