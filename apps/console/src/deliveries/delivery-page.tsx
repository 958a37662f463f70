import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { useMayWrite } from '../access/access.ts';
import { useActivity } from '../api/activity.ts';
import type { Schemas } from '../api/client.ts';
import { curlText, statusText } from '../text/http-text.ts';
import { cutJson, prettyJson } from '../text/pretty-json.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { texts } from '../texts/texts.ts';
import { latencyText, preciseDuration, roughDuration } from '../time/time-text.ts';
import { Copy, Id } from '../ui/copy.tsx';
import { announce } from '../ui/dialog.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Problem } from '../ui/problem.tsx';
import { ExactTime, Time, useNow } from '../ui/time.tsx';
import { Code, ForeignText, Sentence, Url } from '../ui/words.tsx';
import { Endpoint } from './delivery-table.tsx';
import { explainAttempt, explainCode, explainNote, isSuccess, whyItWaits } from './explain-attempt.ts';
import { EventName, RotatedNote, StatusBadge, VerifyLink } from './parts.tsx';
import { useDelivery, useReceiverOf, useRedeliver } from './queries.ts';

/** One delivery: how it stands, each attempt, and what was sent. */
export function DeliveryPage({ id }: { readonly id: string }) {
  const asked = useDelivery(id);
  useActivity(asked.data?.receiverId ?? asked.data?.callbackId ?? undefined);
  const mayWrite = useMayWrite();
  return (
    <Loaded of={asked}>
      {(delivery) => (
        <>
          <header class="page-head">
            <div>
              <h1 class="delivery-title">
                <EventName event={delivery.event} sampleOf={delivery.sampleOf} />{' '}
                <StatusBadge status={delivery.status} />
              </h1>
              <Id id={delivery.id} />
            </div>
            {mayWrite && delivery.erasedAt === undefined && <RedeliverButton delivery={delivery} />}
          </header>
          <DeliverySummary delivery={delivery} />
          <Facts delivery={delivery} />
          <div class="columns">
            <Attempts delivery={delivery} />
            <RequestView request={delivery.request} isSent={delivery.attempts.length > 0} />
          </div>
        </>
      )}
    </Loaded>
  );
}

function Facts({ delivery }: { readonly delivery: Schemas['DeliveryWithAttempts'] }) {
  const { facts } = deliveryTexts;
  const { receiverId, taskId, transitionId, createdAt, settledAt } = delivery;
  const receiver = useReceiverOf(receiverId).data;
  return (
    <dl class="facts">
      <div>
        <dt>{facts.endpoint}</dt>
        <dd>
          <Endpoint id={receiverId} endpoints={receiver ? new Map([[receiver.id, receiver]]) : new Map()} />
        </dd>
      </div>
      {taskId !== null && (
        <div>
          <dt>{facts.task}</dt>
          <dd>
            <Link href={`/console/tasks/${taskId}`} className="mono">
              {taskId}
            </Link>
          </dd>
        </div>
      )}
      <div>
        <dt>{facts.accepted}</dt>
        <dd>
          <ExactTime at={createdAt} />
        </dd>
      </div>
      {settledAt !== null && (
        <div>
          <dt>{facts.settled}</dt>
          <dd>
            <ExactTime at={settledAt} />
          </dd>
        </div>
      )}
      <div>
        <dt>{facts.transition}</dt>
        <dd class="mono">{transitionId}</dd>
      </div>
    </dl>
  );
}

type Delivery = Schemas['DeliveryWithAttempts'];

/** How a delivery stands, in a sentence, and what to do if it needs something. */
function DeliverySummary({ delivery }: { readonly delivery: Delivery }) {
  const { status, reason, owedAttempts } = delivery;
  const explained = reason === undefined ? undefined : explainCode(reason);
  return (
    <div class={`summary summary-${status}`}>
      {status === 'delivered' && <p>{arrivalOf(delivery)}</p>}
      {status === 'pending' && <Pending delivery={delivery} />}
      {explained && (
        <p>
          <Sentence text={explained.meaning} />{' '}
          <strong>
            <Sentence text={explained.action} />
          </strong>
        </p>
      )}
      {owedAttempts !== undefined && <p>{deliveryTexts.owed(owedAttempts)}</p>}
    </div>
  );
}

function arrivalOf({ attempts, createdAt, settledAt }: Delivery): string {
  const took = settledAt === null ? 0 : Date.parse(settledAt) - Date.parse(createdAt);
  const first = attempts.findIndex(({ status = 0 }) => status >= 200 && status < 300);
  return deliveryTexts.summary.delivered(first < 0 ? attempts.length : first + 1, roughDuration(took));
}

/** Counts down to the next try. */
function Pending({ delivery }: { readonly delivery: Delivery }) {
  const { tries, nextAttemptAt, receiverId, waitingFor } = delivery;
  const receiver = useReceiverOf(receiverId).data;
  const now = useNow(1_000);
  const { summary } = deliveryTexts;
  const restMs = nextAttemptAt === null ? 0 : Date.parse(nextAttemptAt) - now;
  if (waitingFor !== undefined) {
    return (
      <p>
        {summary.waits}{' '}
        <Link href={`/console/deliveries/${waitingFor}`} className="mono">
          {waitingFor}
        </Link>
        . {summary.latest} <strong class="countdown">{preciseDuration(restMs)}</strong>.
      </p>
    );
  }
  const why = receiver && whyItWaits(receiver);
  if (restMs <= 0 && why !== undefined) return <p>{summary[why]}</p>;
  if (restMs <= 0) return <p>{tries === 0 ? summary.pendingFirst : summary.inWork}</p>;
  return (
    <p>
      {summary.pendingNext(tries)} <strong class="countdown">{preciseDuration(restMs)}</strong>. {summary.pendingWhy}
    </p>
  );
}

/** Asks for one more attempt now. */
function RedeliverButton({ delivery }: { readonly delivery: Pick<Schemas['Delivery'], 'id' | 'event'> }) {
  const redeliver = useRedeliver();
  const start = async () => {
    const [result] = await redeliver.mutateAsync({ ids: [delivery.id] });
    if (result?.status === 'fulfilled') announce(deliveryTexts.redelivered(1));
  };
  const refused = redeliver.data?.find((result) => result.status === 'rejected');
  return (
    <div class="action">
      <button
        type="button"
        // Another test says more of a receiver than the same one again.
        class={delivery.event === 'webhook.test' ? 'button' : 'button button-main'}
        disabled={redeliver.isPending}
        title={deliveryTexts.redeliverHint}
        onClick={() => void start()}
      >
        {redeliver.isPending ? deliveryTexts.redelivering : deliveryTexts.redeliver}
      </button>
      {refused && <Problem error={refused.reason as unknown} />}
    </div>
  );
}

type Attempted = Schemas['DeliveryWithAttempts'];

/** The attempts as a timeline, the newest first: it is the one that is looked for. */
function Attempts({ delivery }: { readonly delivery: Attempted }) {
  const { attempts, nextAttemptAt, status, waitingFor } = delivery;
  const isDue = nextAttemptAt !== null && Date.parse(nextAttemptAt) <= useNow();
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
              {isDue ? deliveryTexts.due : <ExactTime at={nextAttemptAt} />}
            </p>
          </li>
        )}
        {newestFirst.map(({ attempt, number }) => (
          <li key={number} class={isSuccess(attempt) ? 'attempt attempt-good' : 'attempt attempt-bad'}>
            <Attempt attempt={attempt} number={number} deliveryId={delivery.id} />
            {attempt === attempts.at(-1) && attempt.status === 401 && <RotatedNote receiverId={delivery.receiverId} />}
          </li>
        ))}
      </ol>
    </section>
  );
}

type AttemptProps = {
  readonly attempt: Schemas['Attempt'];
  readonly number: number;
  readonly deliveryId: string;
};

/** Where it went, by which secret it was signed, and what proves the answer. */
function Proof({ attempt: { address, keyIds, answerDigest }, number, deliveryId }: AttemptProps) {
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
      {keyIds && (
        <>
          {' · '}
          <VerifyLink deliveryId={deliveryId} number={number} />
        </>
      )}
    </p>
  );
}

function Attempt({ attempt, number, deliveryId }: AttemptProps) {
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
      <Proof attempt={attempt} number={number} deliveryId={deliveryId} />
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

type RequestViewProps = {
  readonly request: Schemas['DeliveryRequest'];
  /** An attempt was made. */
  readonly isSent: boolean;
};

/** The request as it is sent. */
function RequestView({ request, isSent }: RequestViewProps) {
  const { url, urlChangedAt, headers, omittedHeaders, body, bodyGone = 'not_kept' } = request;
  return (
    <section aria-labelledby="request">
      <div class="section-head">
        <h2 id="request">{deliveryTexts.request}</h2>
        {url !== null && <Copy text={curlText(request)} what={deliveryTexts.curl} label={deliveryTexts.copyCurl} />}
      </div>
      <div class="request-line" role="group" aria-label={deliveryTexts.url} tabIndex={0}>
        <strong>POST</strong> {url === null ? <span class="quiet">{deliveryTexts.urlGone}</span> : <Url url={url} />}
      </div>
      {urlChangedAt !== undefined && (
        <p class="notice">
          {deliveryTexts.urlChanged} <Time at={urlChangedAt} />.
        </p>
      )}
      <HeaderList
        label={deliveryTexts.requestHeaders}
        headers={headers}
        omitted={omittedHeaders}
        omittedText={isSent ? deliveryTexts.omitted : deliveryTexts.omittedYet}
      />
      {headers['x-service-ordering'] === 'released' && <p class="notice">{deliveryTexts.released}</p>}
      {body === null ? (
        <p class="notice">{deliveryTexts.bodyGone[bodyGone]}</p>
      ) : (
        <Json text={body} what={deliveryTexts.theBody} />
      )}
    </section>
  );
}

type HeaderListProps = {
  readonly label: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Sent too, and not shown. */
  readonly omitted?: readonly string[];
  readonly omittedText?: string;
};

/** Headers of a request or an answer. */
function HeaderList({ label, headers, omitted = [], omittedText }: HeaderListProps) {
  return (
    <dl class="headers" aria-label={label}>
      {Object.entries(headers).map(([name, value = '']) => (
        <div>
          <dt>{name}</dt>
          <dd>
            <ForeignText text={value} />
          </dd>
        </div>
      ))}
      {omitted.map((name) => (
        <div>
          <dt>{name}</dt>
          <dd class="quiet">{omittedText}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A longer body is shown without colours. */
const COLOURED_CHARACTERS = 20_000;

/** A body, pretty or as it is sent. */
function Json({ text, what }: { readonly text: string; readonly what: string }) {
  const pretty = prettyJson(text);
  const [isRaw, setRaw] = useState(false);
  const shown = isRaw || pretty === undefined ? text : pretty;
  return (
    <div class="code-box">
      <div class="code-tools">
        {pretty !== undefined && (
          <button
            type="button"
            class="button"
            aria-pressed={isRaw}
            onClick={() => {
              setRaw(!isRaw);
            }}
          >
            {texts.raw}
          </button>
        )}
        <Copy text={text} what={what} />
      </div>
      <pre tabIndex={0} aria-label={what}>
        {shown === pretty && shown.length < COLOURED_CHARACTERS ? (
          cutJson(shown).map((piece) => (
            <span class={`json-${piece.kind}`}>
              {piece.kind === 'plain' ? piece.text : <ForeignText text={piece.text} />}
            </span>
          ))
        ) : (
          <ForeignText text={shown} lines />
        )}
      </pre>
    </div>
  );
}
