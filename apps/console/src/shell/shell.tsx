import type { ComponentChildren } from 'preact';
import { useCallback, useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { brand } from '../texts/brand.ts';
import { useStore } from '../state/create-store.ts';
import { texts } from '../texts/texts.ts';
import { showsUtc, switchUtc } from '../time/zone.ts';
import { Announcements } from '../ui/announce.tsx';
import { Help } from './help.tsx';
import { useKeys } from './use-keys.ts';

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
