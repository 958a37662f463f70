import { useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Schemas } from '../api/client.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { latencyText, relativeTime } from '../time/time-text.ts';
import { Time, useNow } from '../ui/time.tsx';
import { Code, ForeignText, Url, wordsOf } from '../ui/words.tsx';
import { isSuccess, whyItWaits } from './explain-attempt.ts';
import { EventName, StatusBadge } from './parts.tsx';
import type { Endpoints } from './queries.ts';

type Delivery = Schemas['Delivery'];

type DeliveryTableProps = {
  readonly label: string;
  readonly rows: readonly Delivery[];
  /** What is known of the endpoints. */
  readonly endpoints: Endpoints;
  /** False: all rows are of one. */
  readonly showsEndpoint?: boolean;
  readonly showsTask?: boolean;
  /** Absent: rows can't be selected. */
  readonly selection?:
    | {
        readonly ids: ReadonlySet<string>;
        readonly select: (ids: readonly string[], isSelected: boolean) => void;
      }
    | undefined;
};

/** Deliveries, a row each. On a narrow screen a row takes two lines. */
export function DeliveryTable(props: DeliveryTableProps) {
  const { label, rows, selection, endpoints, showsEndpoint = true, showsTask = false } = props;
  const { headings } = deliveryTexts;
  const anchor = useRef<string>();
  const all = rows.map(({ id }) => id);
  /** With Shift, from the one that was clicked before up to this one. */
  const pick = (id: string, isRange: boolean) => {
    const to = all.indexOf(id);
    const before = isRange && anchor.current !== undefined ? all.indexOf(anchor.current) : to;
    const from = before < 0 ? to : before;
    selection?.select(all.slice(Math.min(from, to), Math.max(from, to) + 1), !selection.ids.has(id));
    anchor.current = id;
  };
  const isAll = selection !== undefined && all.every((id) => selection.ids.has(id));
  return (
    <table class={showsEndpoint ? 'rows deliveries with-endpoint' : 'rows deliveries'} aria-label={label}>
      <thead>
        <tr>
          {selection && (
            <th scope="col" class="col-select">
              <input
                type="checkbox"
                aria-label={deliveryTexts.selectShown}
                checked={isAll}
                indeterminate={!isAll && all.some((id) => selection.ids.has(id))}
                onChange={() => {
                  selection.select(all, !isAll);
                }}
              />
            </th>
          )}
          <th scope="col" class="col-status">
            {headings.status}
          </th>
          <th scope="col" class="col-event">
            {headings.event}
          </th>
          {showsEndpoint && (
            <th scope="col" class="col-endpoint">
              {headings.endpoint}
            </th>
          )}
          {showsTask && (
            <th scope="col" class="col-task">
              {headings.task}
            </th>
          )}
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
                  onClick={({ shiftKey }) => {
                    pick(delivery.id, shiftKey);
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
            {showsEndpoint && (
              <td class="col-endpoint">
                <Endpoint id={delivery.receiverId} endpoints={endpoints} />
              </td>
            )}
            {showsTask && (
              <td class="col-task">
                <Task id={delivery.taskId} />
              </td>
            )}
            <td class="col-time">
              <Time at={delivery.createdAt} />
            </td>
            <td class="col-number">{delivery.tries}</td>
            <td class="col-answer">
              <LastAnswer attempt={delivery.lastAttempt} reason={delivery.reason} />
            </td>
            <td class="col-next">
              <NextTry delivery={delivery} endpoints={endpoints} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type NextTryProps = { readonly delivery: Delivery; readonly endpoints: Endpoints };

function NextTry({ delivery: { nextAttemptAt: at, waitingFor, receiverId }, endpoints }: NextTryProps) {
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
  if (Date.parse(at) > now) return <Time at={at} />;
  const endpoint = endpoints.get(receiverId ?? '');
  const why = endpoint && whyItWaits(endpoint);
  return <span class="quiet">{why === undefined ? deliveryTexts.due : deliveryTexts.waits[why]}</span>;
}

function Task({ id }: { readonly id: string | null }) {
  if (id === null) return <span class="quiet nothing">–</span>;
  return (
    <Link href={`/console/tasks/${id}`} className="quiet-link mono" title={id}>
      {shortId(id)}
    </Link>
  );
}

/** Host, path and description; of a receiver that was removed, its id. */
export function Endpoint({ id, endpoints }: { readonly id: string | null; readonly endpoints: Endpoints }) {
  if (id === null) return <span class="quiet">{deliveryTexts.facts.callback}</span>;
  const known = endpoints.get(id);
  return (
    <Link href={`/console/receivers/${id}`} className="quiet-link endpoint" title={id}>
      {known ? <Url url={known.url} /> : <span class="mono">{shortId(id)}</span>}
      {known && known.description !== '' && (
        <span class="description">
          <ForeignText text={known.description} />
        </span>
      )}
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
