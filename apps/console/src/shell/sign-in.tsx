import { useEffect, useState } from 'preact/hooks';
import { session } from '../session/session.ts';
import { isToken } from '../session/token.ts';
import { brand } from '../texts/brand.ts';
import { signInTexts, texts } from '../texts/texts.ts';
import { Field } from '../ui/field.tsx';
import type { ApiProblem } from '../api/api-problem.ts';

type SignInProps = {
  /** Why the token before was refused. */
  readonly refused: ApiProblem | undefined;
  /** The token before was that of a link. */
  readonly wasLink: boolean;
  readonly onToken: (token: string) => void;
};

/** The page for a tab without a token, or whose token has ended. */
export function SignIn({ refused, wasLink, onToken }: SignInProps) {
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
