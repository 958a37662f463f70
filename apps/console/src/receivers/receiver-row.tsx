import { Link } from 'wouter-preact';
import type { Schemas } from '../api/client.ts';
import { Sparkline } from '../charts/sparkline.tsx';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { latencyText } from '../time/time-text.ts';
import { Badge } from '../ui/badge.tsx';
import { ForeignText } from '../ui/foreign-text.tsx';
import { Time } from '../ui/time.tsx';
import { Url } from '../ui/url.tsx';
import { useNow } from '../ui/use-now.ts';
import { percentText } from '../time/percent.ts';
import { useStats } from './queries.ts';
import { Cause } from './cause.tsx';
import { describeState, type Seen } from './receiver-state.ts';

type ReceiverRowProps = {
  readonly receiver: Schemas['Receiver'];
  /** What the newest deliveries of the workspace tell of it. */
  readonly seen: Seen;
};

export function ReceiverRow({ receiver, seen }: ReceiverRowProps) {
  const now = useNow();
  const stats = useStats(receiver.id, '24h').data;
  const { tone, state, cause } = describeState(receiver, now, seen);
  const { events, description, health, id, url } = receiver;
  const lastAt = seen.last?.at ?? health.lastSuccessAt ?? undefined;
  return (
    <tr>
      <td class="col-receiver">
        <Link href={`/console/receivers/${id}`} data-row className="row-link">
          <Url url={url} />
        </Link>
        <span class="receiver-notes">
          {description !== '' && (
            <span class="description">
              <ForeignText text={description} />
            </span>
          )}
          <span class="quiet">{events.length === 0 ? receiverTexts.allEvents : events.join(', ')}</span>
        </span>
      </td>
      <td class="col-state">
        <Badge tone={tone}>{state}</Badge>
        {cause && (
          <p class="quiet cause">
            <Cause cause={cause} />
          </p>
        )}
      </td>
      <td class="col-day">
        {stats && (
          <span class="day">
            <Sparkline
              buckets={stats.buckets}
              label={receiverTexts.sparkline(stats.totals.delivered, stats.totals.failedAttempts)}
            />
            <span class={stats.totals.successRate === undefined ? 'quiet' : undefined}>
              {stats.totals.successRate === undefined ? receiverTexts.noTraffic : percentText(stats.totals.successRate)}
            </span>
          </span>
        )}
      </td>
      <td class="col-number">
        {stats?.totals.p95Ms === undefined ? <span class="quiet nothing">–</span> : latencyText(stats.totals.p95Ms)}
      </td>
      <td class="col-last">{lastAt === undefined ? <span class="quiet nothing">–</span> : <Time at={lastAt} />}</td>
      <td class="col-number">{health.backlog}</td>
    </tr>
  );
}
