import { useQueryClient } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import { Link, Redirect, Route, Switch } from 'wouter-preact';
import { DeliveryPage } from '../deliveries/delivery-page.tsx';
import { ReceiverPage } from '../receivers/receiver-page.tsx';
import { ReceiversPage } from '../receivers/receivers-page.tsx';
import { useAccess } from '../access/access.ts';
import { refusal } from '../access/refusal.ts';
import { session } from '../session/session.ts';
import { useStore } from '../state/create-store.ts';
import { TaskPage } from '../tasks/task-page.tsx';
import { texts } from '../texts/texts.ts';
import { createLazy } from '../ui/create-lazy.tsx';
import { Time } from '../ui/time.tsx';
import { Finder } from './finder.tsx';
import { Shell } from './shell.tsx';
import { SignIn } from './sign-in.tsx';

const VerifyPage = createLazy(() => import('../verify/verify-page.tsx').then((module) => module.VerifyPage));

const LINKS = [
  ['/console/receivers', texts.receivers],
  ['/console/verify', texts.verify],
] as const;

/** The pages of one workspace. */
export function Console() {
  const refused = useStore(refusal);
  const queries = useQueryClient();
  const [token, setToken] = useState(session.get());
  const use = (value: string | undefined) => {
    session.set(value);
    queries.clear();
    refusal.set(undefined);
    setToken(value);
  };
  useEffect(() => {
    // A new link may be opened in the same tab.
    const onHash = () => {
      if (session.takeFromAddress()) use(session.get());
    };
    window.addEventListener('hashchange', onHash);
    return () => {
      window.removeEventListener('hashchange', onHash);
    };
  });
  if (token === undefined || refused !== undefined) {
    return <SignIn refused={refused} wasLink={token?.startsWith('hrlp_') === true} onToken={use} />;
  }
  return (
    <Shell
      home="/console/receivers"
      links={LINKS}
      aside={
        <>
          <Finder />
          <WhoseConsole
            onSignOut={() => {
              use(undefined);
            }}
          />
        </>
      }
    >
      <Switch>
        <Route path="/console">
          <Redirect to="/console/receivers" replace />
        </Route>
        <Route path="/console/receivers">
          <ReceiversPage />
        </Route>
        <Route path="/console/receivers/:id">{({ id }) => <ReceiverPage key={id} id={id} />}</Route>
        <Route path="/console/deliveries/:id">{({ id }) => <DeliveryPage key={id} id={id} />}</Route>
        <Route path="/console/tasks/:id">{({ id }) => <TaskPage key={id} id={id} />}</Route>
        <Route path="/console/verify">
          <VerifyPage />
        </Route>
        <Route>
          <h1>{texts.notFoundTitle}</h1>
          <p>
            {texts.notFound} <Link href="/console/receivers">{texts.toReceivers}</Link>
          </p>
        </Route>
      </Switch>
    </Shell>
  );
}

/** The workspace, and what may be done in it. */
function WhoseConsole({ onSignOut }: { readonly onSignOut: () => void }) {
  const { data } = useAccess();
  if (!data) return <span class="whose" />;
  return (
    <span class="whose">
      <code>{data.workspaceId}</code>
      {data.readOnly && <span class="tag">{texts.readOnly}</span>}
      {data.kind === 'portal_link' && data.expiresAt !== undefined && (
        <span class="quiet">
          {texts.endsIn} <Time at={data.expiresAt} />
        </span>
      )}
      <button type="button" class="link-button" onClick={onSignOut}>
        {texts.signOut}
      </button>
    </span>
  );
}
