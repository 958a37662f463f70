import { PROBLEMS } from '@herald/core/codes/problem-codes';
import { ApiAway, ApiProblem } from '../api/api-problem.ts';
import { texts } from '../texts/texts.ts';
import { Sentence } from './words.tsx';

function actionOf(code: string): string | undefined {
  return Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code as keyof typeof PROBLEMS].action : undefined;
}

/** Why something failed, in the service's own sentence, and what to do about it. */
export function Problem({ error }: { readonly error: unknown }) {
  if (error instanceof ApiAway)
    return (
      <p class="problem" role="alert">
        {texts.away}
      </p>
    );
  if (!(error instanceof ApiProblem))
    return (
      <p class="problem" role="alert">
        {String(error)}
      </p>
    );
  const action = actionOf(error.code);
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{sentenceOf(error.message)}</strong>{' '}
        {error.errors.length === 0 && action !== undefined && <Sentence text={action} />}
      </p>
      {error.errors.length > 0 && (
        <ul>
          {error.errors.map(({ path, message }) => (
            <li>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {error.requestId !== undefined && <p class="quiet">{texts.requestId(error.requestId)}</p>}
    </div>
  );
}

function sentenceOf(detail: string): string {
  return detail.charAt(0).toUpperCase() + detail.slice(1) + (/[.!?]$/.test(detail) ? '' : '.');
}
