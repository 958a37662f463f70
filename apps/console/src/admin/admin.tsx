import { Link, Route, Switch } from 'wouter-preact';
import { Shell } from '../shell/shell.tsx';
import { adminTexts } from '../texts/admin-texts.ts';
import { texts } from '../texts/texts.ts';
import { AuditPage } from './audit-page.tsx';
import { ReceiversPage } from './receivers-page.tsx';
import { FailedPage } from './failed-page.tsx';
import { OverviewPage } from './overview-page.tsx';
import { SearchPage } from './search-page.tsx';
import { Search } from './search.tsx';

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
