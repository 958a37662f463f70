import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { useStore } from '../state/create-store.ts';
import { brand } from '../texts/brand.ts';
import { texts } from '../texts/texts.ts';
import { showsUtc, switchUtc } from '../time/time-text.ts';
import { Dialog, Announcements } from '../ui/dialog.tsx';

type ShellProps = {
  readonly home: string;
  readonly links: readonly (readonly [path: string, title: string])[];
  /** A page outside of the program. */
  readonly docs?: string;
  /** Beside the links. */
  readonly aside: ComponentChildren;
  readonly children: ComponentChildren;
};

/** What is around every page: where one is, where one can go, and the keys. */
export function Shell({ home, links, docs, aside, children }: ShellProps) {
  const [path] = useLocation();
  const isUtc = useStore(showsUtc);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const showHelp = useCallback(() => {
    setHelpOpen(true);
  }, []);
  useKeys(showHelp);
  return (
    <>
      <a class="skip" href="#content">
        {texts.skip}
      </a>
      <header class="top">
        <Link href={home} class="brand">
          {brand?.logo === undefined ? <Mark /> : <img src={brand.logo} alt="" height="20" />}{' '}
          {brand?.name ?? texts.service}
        </Link>
        <nav aria-label={brand?.name ?? texts.service}>
          {links.map(([to, title]) => (
            <Link href={to} aria-current={isWithin(path, to) ? 'page' : undefined}>
              {title}
            </Link>
          ))}
          {docs !== undefined && (
            // Beside the page: a frame may not show it.
            <a href={docs} target="_blank" rel="noopener">
              {texts.docs}
            </a>
          )}
        </nav>
        {aside}
        <button type="button" class="icon-button" onClick={switchUtc} aria-pressed={isUtc} aria-label={texts.utcLabel}>
          {texts.utc}
        </button>
        <button type="button" class="icon-button" onClick={showHelp} aria-label={texts.help}>
          ?
        </button>
      </header>
      {/* Every time in it is drawn anew with the zone. */}
      <main id="content" tabIndex={-1} key={String(isUtc)}>
        {children}
      </main>
      <Announcements />
      {isHelpOpen && (
        <Help
          onClose={() => {
            setHelpOpen(false);
          }}
        />
      )}
    </>
  );
}

/** Whether a link leads to this page, or to one above it. The first page of operators is above no other. */
function isWithin(path: string, to: string): boolean {
  return path === to || (to !== '/admin' && path.startsWith(`${to}/`));
}

function Mark() {
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path fill="currentColor" d="M2 1h3v5.5h6V1h3v14h-3V9.5H5V15H2z" />
    </svg>
  );
}

/** The keys. */
function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={texts.helpTitle} onClose={onClose}>
      <dl class="keys">
        {texts.keys.map(([key, meaning]) => (
          <div>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <p>
        <a href="/docs/receiving" target="_blank" rel="noopener">
          {texts.receivingDocs}
        </a>
        {brand?.support !== undefined && (
          <>
            {' · '}
            <a href={brand.support} target="_blank" rel="noopener">
              {texts.support(brand.name)}
            </a>
          </>
        )}
      </p>
    </Dialog>
  );
}

/** The links of rows, which `j` and `k` go through. */
const ROWS = '[data-row]';

/** A checkbox takes no text: the keys of the rows go on working after a click on one. */
const TYPING = 'input:not([type=checkbox]), textarea, select, dialog *';

/** Keys that work on every page. Typing in a field, and a dialog, keep theirs. */
function useKeys(showHelp: () => void): void {
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
