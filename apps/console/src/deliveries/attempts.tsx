import type { Schemas } from '../api/client.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { statusText } from '../text/http-status.ts';
import { latencyText } from '../time/time-text.ts';
import { Code } from '../ui/code.tsx';
import { Copy } from '../ui/copy.tsx';
import { ForeignText } from '../ui/foreign-text.tsx';
import { Sentence } from '../ui/sentence.tsx';
import { ExactTime } from '../ui/time.tsx';
import { explainAttempt, explainNote, isSuccess } from './explain-attempt.ts';
import { RotatedNote } from './rotated-note.tsx';
import { HeaderList } from './header-list.tsx';

type Delivery = Schemas['DeliveryWithAttempts'];

/** The attempts as a timeline, the newest first: it is the one that is looked for. */
export function Attempts({ delivery }: { readonly delivery: Delivery }) {
  const { attempts, nextAttemptAt, status, waitingFor } = delivery;
  const newestFirst = attempts.map((attempt, index) => ({ attempt, number: index + 1 })).reverse();
  return (
    <section aria-labelledby="attempts">
      <h2 id="attempts">{deliveryTexts.attempts}</h2>
      {attempts.length === 0 && status !== 'pending' && <p class="quiet">{deliveryTexts.noAttempt}</p>}
      <ol class="timeline" reversed>
        {nextAttemptAt !== null && (
          <li class="attempt attempt-next">
            <p>
              <strong>{waitingFor === undefined ? deliveryTexts.nextTry : deliveryTexts.latestTry}</strong>{' '}
              <ExactTime at={nextAttemptAt} />
            </p>
          </li>
        )}
        {newestFirst.map(({ attempt, number }) => (
          <li key={number} class={isSuccess(attempt) ? 'attempt attempt-good' : 'attempt attempt-bad'}>
            <Attempt attempt={attempt} number={number} />
            {attempt === attempts.at(-1) && attempt.status === 401 && <RotatedNote receiverId={delivery.receiverId} />}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Where it went, by which secret it was signed, and what proves the answer. */
function Proof({ attempt: { address, keyIds, answerDigest } }: { readonly attempt: Schemas['Attempt'] }) {
  const { proof } = deliveryTexts;
  const facts = [
    [proof.address, address],
    [proof.keys, keyIds?.join(', ')],
    [proof.digest, answerDigest],
  ].filter(([, value]) => value !== undefined);
  if (facts.length === 0) return null;
  return (
    <p class="quiet">
      {facts.map(([name, value], index) => (
        <span key={name}>
          {index > 0 && ' · '}
          {name} <code>{value}</code>
        </span>
      ))}
    </p>
  );
}

function Attempt({ attempt, number }: { readonly attempt: Schemas['Attempt']; readonly number: number }) {
  const explained = explainAttempt(attempt);
  const { headers, answer } = attempt;
  const note = explainNote(attempt.bodyNote);
  return (
    <article aria-label={deliveryTexts.attempt(number)}>
      <header class="attempt-head">
        <strong class={explained ? 'outcome outcome-bad' : 'outcome'}>
          {attempt.status === undefined ? (
            <Code code={attempt.error ?? 'connection_failed'} />
          ) : (
            statusText(attempt.status)
          )}
        </strong>
        <span class="quiet">{latencyText(attempt.durationMs)}</span>
        <span class="quiet attempt-time">
          {deliveryTexts.attempt(number)}, <ExactTime at={attempt.at} />
        </span>
      </header>
      {explained && (
        <p>
          <Sentence text={explained.meaning} />{' '}
          <strong>
            <Sentence text={explained.action} />
          </strong>
        </p>
      )}
      {note && (
        <p class="quiet">
          <Sentence text={`${deliveryTexts.odd} ${note.meaning} ${note.action}`} />
        </p>
      )}
      <Proof attempt={attempt} />
      {headers && <HeaderList label={deliveryTexts.answerHeaders} headers={headers} />}
      {answer !== undefined && (
        <div class="code-box">
          <div class="code-tools">
            <Copy text={answer} what={deliveryTexts.theAnswer} />
          </div>
          <pre
            tabIndex={0}
            aria-label={`${deliveryTexts.answer}, ${deliveryTexts.attempt(number)}`}
            title={deliveryTexts.answerCut}
          >
            <ForeignText text={answer} lines />
          </pre>
        </div>
      )}
    </article>
  );
}
