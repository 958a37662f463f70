import { useEffect } from 'preact/hooks';

/** The links of rows, which `j` and `k` go through. */
const ROWS = '[data-row]';

/** A checkbox takes no text: the keys of the rows go on working after a click on one. */
const TYPING = 'input:not([type=checkbox]), textarea, select, dialog *';

/** Keys that work on every page. Typing in a field, and a dialog, keep theirs. */
export function useKeys(showHelp: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (event.target instanceof HTMLElement && event.target.matches(TYPING)) return;
      if (act(event.key, showHelp)) event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => {
      document.removeEventListener('keydown', onKey);
    };
  }, [showHelp]);
}

/** Returns whether the key means something. */
function act(key: string, showHelp: () => void): boolean {
  switch (key) {
    case '/':
      document.querySelector<HTMLElement>('[data-finder]')?.focus();
      return true;
    case 'j':
      return step(1);
    case 'k':
      return step(-1);
    case 'x':
      return select();
    case '?':
      showHelp();
      return true;
    default:
      return false;
  }
}

function step(by: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS)];
  const focused = rows.findIndex(
    (row) => row === document.activeElement || rowOf(row)?.contains(document.activeElement),
  );
  const next = rows[focused < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, focused + by))];
  next?.focus();
  return next !== undefined;
}

/** Ticks the box of the row that has the focus. */
function select(): boolean {
  const box = rowOf(document.activeElement)?.querySelector<HTMLInputElement>('input[type=checkbox]');
  box?.click();
  return box != null;
}

const rowOf = (element: Element | null): Element | null | undefined => element?.closest('tr, li');
