import { Link } from 'wouter-preact';
import type { Schemas } from '../api/client.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { preciseDuration, roughDuration } from '../time/time-text.ts';
import { Sentence } from '../ui/sentence.tsx';
import { useNow } from '../ui/use-now.ts';
import { explainCode } from './explain-attempt.ts';
import { useReceiverOf } from './queries.ts';

type Delivery = Schemas['DeliveryWithAttempts'];

/** How a delivery stands, in a sentence, and what to do if it needs something. */
export function DeliverySummary({ delivery }: { readonly delivery: Delivery }) {
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
  if (restMs <= 0 && receiver?.health.state === 'paused') {
    if (receiver.pausedAt !== undefined) return <p>{summary.pausedByPlatform}</p>;
    return <p>{receiver.health.nextProbeAt === undefined ? summary.held : summary.unanswered}</p>;
  }
  if (restMs <= 0 && receiver?.health.waitingForRate !== undefined) return <p>{summary.rate}</p>;
  if (restMs <= 0) return <p>{tries === 0 ? summary.pendingFirst : summary.inWork}</p>;
  return (
    <p>
      {summary.pendingNext(tries)} <strong class="countdown">{preciseDuration(restMs)}</strong>. {summary.pendingWhy}
    </p>
  );
}
