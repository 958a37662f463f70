import { writeDuration } from '@herald/core/duration';
import { useLocation, useSearchParams } from 'wouter-preact';
import { useMayWrite } from '../access/access.ts';
import { useActivity } from '../api/activity.ts';
import { api, type Schemas } from '../api/client.ts';
import { LatencyChart, CountChart } from '../charts/charts.tsx';
import { DeliveryList } from '../deliveries/delivery-list.tsx';
import { useHead } from '../deliveries/queries.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { chartTexts } from '../texts/texts.ts';
import { LONGEST_MS, percentText, roughDuration } from '../time/time-text.ts';
import { Id } from '../ui/copy.tsx';
import { announce } from '../ui/dialog.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Problem } from '../ui/problem.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Time, useNow } from '../ui/time.tsx';
import { ForeignText, Url, Badge } from '../ui/words.tsx';
import { Cause } from './cause.tsx';
import { type StatsWindow, useChange, useReceiver, useStats } from './queries.ts';
import { ReceiverActions } from './receiver-actions.tsx';
import { describeState, lastTestOf, timeToSend } from './receiver-state.ts';
import { type OpenReplay, ReplayOfList } from './replay-of-list.tsx';

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
              <DeliveryList receiver={id} endpoints={new Map([[id, receiver]])} onRedeliverAll={onRedeliverAll} />
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
  readonly onTryAll: OpenReplay | undefined;
};

function ReceiverHead({ receiver, onTryAll }: ReceiverHeadProps) {
  const now = useNow();
  const { url, description, events, id } = receiver;
  const test = lastTestOf(useHead(id, {}).data?.deliveries ?? []);
  const { tone, state, cause, explanation } = describeState(receiver, now, test);
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

/** How long what waits for a receiver takes at its present pace, while something does. */
function Backlog({ receiver: { id, enabled, health } }: { readonly receiver: Schemas['Receiver'] }) {
  const isWanted = enabled && health.backlog > 0 && health.state !== 'paused';
  const { data: stats } = useStats(id, '1h', isWanted);
  if (!isWanted || !stats) return null;
  const { perSecond, ms } = timeToSend(health.backlog, stats);
  const { backlog } = receiverTexts;
  return (
    <p class="quiet">
      {ms === undefined
        ? backlog.stands(health.backlog)
        : backlog.goes(health.backlog, perSecond.toFixed(1), roughDuration(ms))}
    </p>
  );
}

/** That a rotation of the secret is running, until when, and its end. */
function Rotation({ receiver: { id, secretOverlapEndsAt } }: { readonly receiver: Schemas['Receiver'] }) {
  const { rotation } = receiverTexts;
  const mayWrite = useMayWrite();
  const end = useChange(async () => {
    await api.DELETE('/api/public/webhooks/{id}/secret/previous', { params: { path: { id } } });
    announce(rotation.ended);
  });
  if (secretOverlapEndsAt === undefined) return null;
  return (
    <div class="notice">
      <p>
        {rotation.running} <Time at={secretOverlapEndsAt} />. {rotation.until}{' '}
        {mayWrite && (
          <button
            type="button"
            class="button"
            disabled={end.isPending}
            onClick={() => {
              end.mutate(undefined);
            }}
          >
            {rotation.end}
          </button>
        )}
      </p>
      {end.error && <Problem error={end.error} />}
    </div>
  );
}

/** How deliveries reach a receiver, where that is not as usual. */
function ReceiverFacts({ receiver }: { readonly receiver: Schemas['Receiver'] }) {
  const { facts } = receiverTexts;
  const { ordering, orderingTimeoutSeconds, rateLimit, maxRetryHours, headerNames = [] } = receiver;
  const shown = [
    ordering === 'task' && ([facts.ordering, facts.inOrder(writeDuration(orderingTimeoutSeconds * 1_000))] as const),
    rateLimit !== null && ([facts.rate, facts.perSecond(rateLimit.perSecond)] as const),
    maxRetryHours !== null && ([facts.tries, facts.hours(maxRetryHours)] as const),
  ].filter((each) => each !== false);
  if (shown.length === 0 && headerNames.length === 0) return null;
  return (
    <dl class="facts">
      {shown.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      {headerNames.length > 0 && (
        <div>
          <dt>{facts.headers}</dt>
          <dd class="mono">{headerNames.join(', ')}</dd>
        </div>
      )}
    </dl>
  );
}

const WINDOWS: readonly StatsWindow[] = ['1h', '24h', '7d'];

/** What attempts came to, over a window that lives in the address. */
function StatsCharts({ receiver }: { readonly receiver: string }) {
  const [query, setQuery] = useSearchParams();
  const window = WINDOWS.find((each) => each === query.get('window')) ?? '24h';
  const stats = useStats(receiver, window);
  const choose = (chosen: StatsWindow) => {
    setQuery(
      (former) => {
        const next = new URLSearchParams(former);
        next.set('window', chosen);
        return next;
      },
      { replace: true },
    );
  };
  const rate = stats.data?.totals.successRate;
  return (
    <section aria-label={chartTexts.outcomes}>
      <div class="section-head">
        <Tabs
          label={chartTexts.window}
          value={window}
          options={WINDOWS.map((each) => [each, chartTexts.windows[each]])}
          onChange={choose}
        />
        {rate !== undefined && <span class="quiet">{chartTexts.successRate(percentText(rate))}</span>}
      </div>
      <Loaded of={stats}>
        {({ buckets }) => (
          <div class="charts">
            <CountChart buckets={buckets} />
            <LatencyChart
              title={chartTexts.latency}
              highName="p95"
              longest={LONGEST_MS.attempt}
              buckets={buckets.map(({ at, p50Ms, p95Ms }) => ({ at, p50: p50Ms, high: p95Ms }))}
            />
          </div>
        )}
      </Loaded>
    </section>
  );
}
