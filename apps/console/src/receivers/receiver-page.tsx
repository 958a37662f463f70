import { useLocation } from 'wouter-preact';
import { useMayWrite } from '../access/access.ts';
import { useActivity } from '../api/activity.ts';
import type { Schemas } from '../api/client.ts';
import type { Filter } from '../deliveries/filter.ts';
import { useHead } from '../deliveries/queries.ts';
import { DeliveryList } from '../deliveries/delivery-list.tsx';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { Badge } from '../ui/badge.tsx';
import { ForeignText } from '../ui/foreign-text.tsx';
import { Id } from '../ui/id.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Url } from '../ui/url.tsx';
import { useNow } from '../ui/use-now.ts';
import { ReceiverActions } from './receiver-actions.tsx';
import { Backlog, ReceiverFacts, Rotation } from './receiver-facts.tsx';
import { useReceiver } from './queries.ts';
import { Cause } from './cause.tsx';
import { describeState, seenOf } from './receiver-state.ts';
import { ReplayOfList } from './replay-of-list.tsx';
import { StatsCharts } from './stats-charts.tsx';

/** One receiver: how it does, what to do about it, and its deliveries. */
export function ReceiverPage({ id }: { readonly id: string }) {
  const asked = useReceiver(id);
  useActivity(id);
  const mayWrite = useMayWrite();
  const [, navigate] = useLocation();
  return (
    <Loaded of={asked}>
      {(receiver) => (
        <ReplayOfList receivers={[receiver]}>
          {(onRedeliverAll) => (
            <>
              <ReceiverHead receiver={receiver} onTryAll={mayWrite ? onRedeliverAll : undefined} />
              {mayWrite && (
                <ReceiverActions
                  receiver={receiver}
                  onReplay={onRedeliverAll}
                  onRemoved={() => {
                    navigate('/console/receivers');
                  }}
                />
              )}
              <StatsCharts receiver={id} />
              <DeliveryList receiver={id} onRedeliverAll={onRedeliverAll} />
            </>
          )}
        </ReplayOfList>
      )}
    </Loaded>
  );
}

type ReceiverHeadProps = {
  readonly receiver: Schemas['Receiver'];
  /** Absent: he may not. */
  readonly onTryAll: ((filter: Filter) => void) | undefined;
};

function ReceiverHead({ receiver, onTryAll }: ReceiverHeadProps) {
  const now = useNow();
  const { url, description, events, id } = receiver;
  const newest = useHead(id, {}).data?.deliveries ?? [];
  const { tone, state, cause, explanation } = describeState(receiver, now, seenOf(newest));
  return (
    <>
      <header class="page-head">
        <div>
          <h1 class="receiver-title">
            <Url url={url} />
          </h1>
          {description !== '' && (
            <p>
              <ForeignText text={description} />
            </p>
          )}
          <p class="quiet">{events.length === 0 ? receiverTexts.allEvents : events.join(', ')}</p>
          <Id id={id} />
        </div>
      </header>
      <div class={`summary summary-${tone}`}>
        <p>
          <Badge tone={tone}>{state}</Badge> {cause ? <Cause cause={cause} withAction /> : explanation}
        </p>
        {cause && <p>{explanation}</p>}
        {onTryAll && mayTryAll(receiver) && (
          <p>
            <button
              type="button"
              class="button"
              onClick={() => {
                onTryAll({ status: 'pending' });
              }}
            >
              {deliveryTexts.tryAllNow}
            </button>
          </p>
        )}
      </div>
      <Rotation receiver={receiver} />
      <Backlog receiver={receiver} />
      <ReceiverFacts receiver={receiver} />
    </>
  );
}

/** Whether deliveries may wait for a next try that somebody wants now. */
function mayTryAll({ enabled, pausedAt, health }: Schemas['Receiver']): boolean {
  return enabled && pausedAt === undefined && (health.state !== 'healthy' || health.backlog > 0);
}
