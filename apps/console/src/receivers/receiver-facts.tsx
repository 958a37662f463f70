import { useMayWrite } from '../access/access.ts';
import { api, type Schemas } from '../api/client.ts';
import { announce } from '../ui/announce.tsx';
import { Problem } from '../ui/problem.tsx';
import { Time } from '../ui/time.tsx';
import { writeDuration } from '@herald/core/duration';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { roughDuration } from '../time/time-text.ts';
import { useChange, useStats } from './queries.ts';
import { timeToSend } from './time-to-send.ts';

/** How long what waits for a receiver takes at its present pace, while something does. */
export function Backlog({ receiver: { id, enabled, health } }: { readonly receiver: Schemas['Receiver'] }) {
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
export function Rotation({ receiver: { id, secretOverlapEndsAt } }: { readonly receiver: Schemas['Receiver'] }) {
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
export function ReceiverFacts({ receiver }: { readonly receiver: Schemas['Receiver'] }) {
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
