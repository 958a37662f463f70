import { Link } from 'wouter-preact';
import type { Schemas } from '../api/client.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { Code, wordsOf } from '../ui/code.tsx';
import { latencyText, relativeTime } from '../time/time-text.ts';
import { Time } from '../ui/time.tsx';
import { useNow } from '../ui/use-now.ts';
import { EventName } from './event-name.tsx';
import { isSuccess } from './explain-attempt.ts';
import { StatusBadge } from './status-badge.tsx';

type Delivery = Schemas['Delivery'];

type DeliveryTableProps = {
  readonly label: string;
  readonly rows: readonly Delivery[];
  /** Of a Task: the endpoint instead of the Task. */
  readonly showsEndpoint?: boolean;
  /** Absent: rows can't be selected. */
  readonly selection?: { readonly ids: ReadonlySet<string>; readonly toggle: (id: string) => void } | undefined;
};

/** Deliveries, a row each. On a narrow screen a row takes two lines. */
export function DeliveryTable({ label, rows, selection, showsEndpoint = false }: DeliveryTableProps) {
  const { headings } = deliveryTexts;
  return (
    <table class="rows deliveries" aria-label={label}>
      <thead>
        <tr>
          {selection && (
            <th scope="col" class="col-select">
              <span class="unseen">{headings.select}</span>
            </th>
          )}
          <th scope="col" class="col-status">
            {headings.status}
          </th>
          <th scope="col">{headings.event}</th>
          <th scope="col" class="col-task">
            {showsEndpoint ? headings.endpoint : headings.task}
          </th>
          <th scope="col" class="col-time">
            {headings.accepted}
          </th>
          <th scope="col" class="col-number">
            {headings.tries}
          </th>
          <th scope="col" class="col-answer">
            {headings.answer}
          </th>
          <th scope="col" class="col-next">
            {headings.next}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((delivery) => (
          <tr key={delivery.id}>
            {selection && (
              <td class="col-select">
                <input
                  type="checkbox"
                  aria-label={deliveryTexts.select(delivery.id)}
                  checked={selection.ids.has(delivery.id)}
                  onChange={() => {
                    selection.toggle(delivery.id);
                  }}
                />
              </td>
            )}
            <td class="col-status">
              <StatusBadge status={delivery.status} />
            </td>
            <td class="col-event">
              <Link href={`/console/deliveries/${delivery.id}`} data-row className="row-link">
                <EventName event={delivery.event} sampleOf={delivery.sampleOf} />
              </Link>
            </td>
            <td class="col-task">
              {showsEndpoint ? <Endpoint id={delivery.receiverId} /> : <Task id={delivery.taskId} />}
            </td>
            <td class="col-time">
              <Time at={delivery.createdAt} />
            </td>
            <td class="col-number">{delivery.tries}</td>
            <td class="col-answer">
              <LastAnswer attempt={delivery.lastAttempt} reason={delivery.reason} />
            </td>
            <td class="col-next">
              <NextTry at={delivery.nextAttemptAt} waitingFor={delivery.waitingFor} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type NextTryProps = { readonly at: string | null; readonly waitingFor: string | undefined };

function NextTry({ at, waitingFor }: NextTryProps) {
  const now = useNow(1_000);
  if (waitingFor !== undefined) {
    return (
      <span title={at === null ? undefined : deliveryTexts.atTheLatest(relativeTime(Date.parse(at), now))}>
        {deliveryTexts.after}{' '}
        <Link href={`/console/deliveries/${waitingFor}`} className="quiet-link mono" title={waitingFor}>
          {shortId(waitingFor)}
        </Link>
      </span>
    );
  }
  if (at === null) return <span class="quiet nothing">–</span>;
  return Date.parse(at) <= now ? <span class="quiet">{deliveryTexts.due}</span> : <Time at={at} />;
}

function Task({ id }: { readonly id: string | null }) {
  if (id === null) return <span class="quiet nothing">–</span>;
  return (
    <Link href={`/console/tasks/${id}`} className="quiet-link mono" title={id}>
      {shortId(id)}
    </Link>
  );
}

function Endpoint({ id }: { readonly id: string | null }) {
  if (id === null) return <span>{deliveryTexts.facts.callback}</span>;
  return (
    <Link href={`/console/receivers/${id}`} className="quiet-link mono" title={id}>
      {shortId(id)}
    </Link>
  );
}

type LastAnswerProps = { readonly attempt: Delivery['lastAttempt']; readonly reason: string | undefined };

function LastAnswer({ attempt, reason }: LastAnswerProps) {
  if (attempt === null)
    return <span class="quiet">{reason === undefined ? deliveryTexts.none : <Code code={reason} />}</span>;
  return (
    <span>
      <span class={isSuccess(attempt) ? 'outcome' : 'outcome outcome-bad'}>
        {attempt.status ?? wordsOf(attempt.error ?? 'connection_failed')}
      </span>{' '}
      <span class="quiet">{latencyText(attempt.durationMs)}</span>
      {attempt.error !== undefined && <small class="code"> {attempt.error}</small>}
    </span>
  );
}

/** Enough of an id to know it again: its beginning is the time, its end is random. */
function shortId(id: string): string {
  return id.replace(/_.+(?=.{6}$)/, '_…');
}
