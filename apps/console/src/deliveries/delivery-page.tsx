import { Link } from 'wouter-preact';
import { useMayWrite } from '../access/access.ts';
import { useActivity } from '../api/activity.ts';
import type { Schemas } from '../api/client.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { ExactTime } from '../ui/time.tsx';
import { Id } from '../ui/id.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Attempts } from './attempts.tsx';
import { DeliverySummary } from './delivery-summary.tsx';
import { EventName } from './event-name.tsx';
import { Endpoint } from './delivery-table.tsx';
import { useDelivery, useReceiverOf } from './queries.ts';
import { RedeliverButton } from './redeliver-button.tsx';
import { RequestView } from './request-view.tsx';
import { StatusBadge } from './status-badge.tsx';

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
            <RequestView request={delivery.request} />
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
