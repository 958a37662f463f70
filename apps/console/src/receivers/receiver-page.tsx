import { useLocation, useSearchParams } from 'wouter-preact';
import { useMayWrite } from '../access/access.ts';
import { useActivity } from '../api/activity.ts';
import type { Schemas } from '../api/client.ts';
import { useHead } from '../deliveries/queries.ts';
import { DeliveryList } from '../deliveries/delivery-list.tsx';
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
import { ReplayProgress } from './replay-progress.tsx';
import { StatsCharts } from './stats-charts.tsx';

/** One receiver: how it does, what to do about it, and its deliveries. */
export function ReceiverPage({ id }: { readonly id: string }) {
  const asked = useReceiver(id);
  useActivity(id);
  const mayWrite = useMayWrite();
  const [query, setQuery] = useSearchParams();
  const [, navigate] = useLocation();
  const replay = query.get('replay');
  const showReplay = (replayId: string | undefined) => {
    setQuery(
      (former) => {
        const next = new URLSearchParams(former);
        if (replayId === undefined) next.delete('replay');
        else next.set('replay', replayId);
        return next;
      },
      { replace: true },
    );
  };
  return (
    <Loaded of={asked}>
      {(receiver) => (
        <>
          <ReceiverHead receiver={receiver} />
          {mayWrite && (
            <ReceiverActions
              receiver={receiver}
              onReplay={showReplay}
              onRemoved={() => {
                navigate('/console/receivers');
              }}
            />
          )}
          {replay !== null && (
            <ReplayProgress
              id={replay}
              mayStop={mayWrite}
              onHide={() => {
                showReplay(undefined);
              }}
            />
          )}
          <StatsCharts receiver={id} />
          <DeliveryList receiver={id} />
        </>
      )}
    </Loaded>
  );
}

function ReceiverHead({ receiver }: { readonly receiver: Schemas['Receiver'] }) {
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
      </div>
      <Rotation receiver={receiver} />
      <Backlog receiver={receiver} />
      <ReceiverFacts receiver={receiver} />
    </>
  );
}
