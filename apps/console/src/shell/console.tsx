import { useQueryClient } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import { Link, Redirect, Route, Switch } from 'wouter-preact';
import { refusal, useAccess } from '../access/access.ts';
import type { ApiProblem } from '../api/api-problem.ts';
import { DeliveryPage } from '../deliveries/delivery-page.tsx';
import { DeliveriesPage } from '../receivers/deliveries-page.tsx';
import { ReceiverPage } from '../receivers/receiver-page.tsx';
import { ReceiversPage } from '../receivers/receivers-page.tsx';
import { session, tabs } from '../session/session.ts';
import { isToken } from '../session/token.ts';
import { useStore } from '../state/create-store.ts';
import { TaskPage } from '../tasks/task-page.tsx';
import { brand } from '../texts/brand.ts';
import { signInTexts, texts } from '../texts/texts.ts';
import { createLazy } from '../ui/create-lazy.tsx';
import { Field } from '../ui/field.tsx';
import { Time } from '../ui/time.tsx';
import { Finder } from './finder.tsx';
import { Shell } from './shell.tsx';

const VerifyPage = createLazy(() => import('../verify/verify-page.tsx').then((module) => module.VerifyPage));

const LINKS = [
  ['/console/receivers', texts.receivers],
  ['/console/deliveries', texts.deliveries],
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
  /** What somebody brings into this tab opens those that wait, too. */
  const bring = (value: string) => {
    use(value);
    tabs.offer(value);
  };
  useEffect(() => {
    // A new link may be opened in the same tab.
    const onHash = () => {
      if (session.takeFromAddress()) bring(session.get() ?? '');
    };
    window.addEventListener('hashchange', onHash);
    // Or in another one: it opens a tab that has none, or whose own has ended.
    const stopListening = tabs.listen((offered) => {
      if (offered === undefined || session.get() === undefined || refusal.get() !== undefined) use(offered);
    });
    return () => {
      window.removeEventListener('hashchange', onHash);
      stopListening();
    };
  });
  if (token === undefined || refused !== undefined) {
    return <SignIn refused={refused} wasLink={token?.startsWith('hrlp_') === true} onToken={bring} />;
  }
  return (
    <Shell
      home="/console/receivers"
      links={LINKS}
      docs="/docs/receiving"
      aside={
        <>
          <Finder />
          <WhoseConsole
            onSignOut={() => {
              tabs.forget(token);
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
        <Route path="/console/deliveries">
          <DeliveriesPage />
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

type SignInProps = {
  /** Why the token before was refused. */
  readonly refused: ApiProblem | undefined;
  /** The token before was that of a link. */
  readonly wasLink: boolean;
  readonly onToken: (token: string) => void;
};

/** The page for a tab without a token, or whose token has ended. */
function SignIn({ refused, wasLink, onToken }: SignInProps) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    session.want();
  }, []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (isToken(text.trim())) onToken(text.trim());
    else setProblem(signInTexts.wrongForm);
  };
  return (
    <main class="sign-in" id="content">
      <h1>{refused ? (wasLink ? signInTexts.endedTitle : signInTexts.refusedTitle) : signInTexts.title}</h1>
      {refused && wasLink ? <p>{signInTexts.ended}</p> : <p>{signInTexts.intro}</p>}
      {!refused && <p>{signInTexts.arrives}</p>}
      {brand?.support !== undefined && (
        <p>
          <a href={brand.support} target="_blank" rel="noopener">
            {texts.support(brand.name)}
          </a>
        </p>
      )}
      {refused && <p class="quiet">{refused.message}</p>}
      <form onSubmit={submit}>
        <Field label={signInTexts.label} hint={signInTexts.hint} problem={problem}>
          {(ids) => (
            <input
              {...ids}
              type="password"
              class="mono"
              autocomplete="off"
              spellcheck={false}
              value={text}
              onInput={({ currentTarget }) => {
                setText(currentTarget.value);
                setProblem(undefined);
              }}
            />
          )}
        </Field>
        <button type="submit" class="button button-main">
          {signInTexts.open}
        </button>
      </form>
    </main>
  );
}
