import { useState } from 'preact/hooks';
import { Link, Route, Switch, useLocation } from 'wouter-preact';
import { Shell } from '../shell/shell.tsx';
import { adminTexts } from '../texts/admin-texts.ts';
import { texts } from '../texts/texts.ts';
import { AuditPage } from './audit-page.tsx';
import { FailedPage } from './failed-page.tsx';
import { OverviewPage } from './overview-page.tsx';
import { ReceiversPage } from './receivers-page.tsx';
import { SearchPage } from './search-page.tsx';

const LINKS = [
  ['/admin', adminTexts.overview],
  ['/admin/receivers', adminTexts.receivers],
  ['/admin/failed', adminTexts.failed],
  ['/admin/audit', adminTexts.audit],
] as const;

/** The pages of the whole service. */
export function Admin() {
  return (
    <Shell
      home="/admin"
      links={LINKS}
      aside={
        <>
          <a href="/admin/queues" class="quiet-link">
            {adminTexts.board}
          </a>
          <Search />
        </>
      }
    >
      <Switch>
        <Route path="/admin">
          <OverviewPage />
        </Route>
        <Route path="/admin/receivers">
          <ReceiversPage />
        </Route>
        <Route path="/admin/failed">
          <FailedPage />
        </Route>
        <Route path="/admin/audit">
          <AuditPage />
        </Route>
        <Route path="/admin/search">
          <SearchPage />
        </Route>
        <Route>
          <h1>{texts.notFoundTitle}</h1>
          <p>
            {texts.notFound} <Link href="/admin">{adminTexts.overview}</Link>
          </p>
        </Route>
      </Switch>
    </Shell>
  );
}

/** Looks for anything by id, host or workspace. The results have a page, whose address holds what was looked for. */
function Search() {
  const [text, setText] = useState('');
  const [, navigate] = useLocation();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (text.trim() === '') return;
    navigate(`/admin/search?q=${encodeURIComponent(text.trim())}`);
    document.getElementById('content')?.focus();
  };
  return (
    <form class="finder" role="search" onSubmit={submit}>
      <input
        type="search"
        data-finder
        class="mono"
        aria-label={adminTexts.search.label}
        placeholder={adminTexts.search.label}
        title={adminTexts.search.hint}
        spellcheck={false}
        autocomplete="off"
        maxLength={256}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}
