import { useSearchParams } from 'wouter-preact';
import { CountChart } from '../charts/count-chart.tsx';
import { LatencyChart } from '../charts/latency-chart.tsx';
import { chartTexts } from '../texts/chart-texts.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { percentText } from '../time/percent.ts';
import { useStats, type StatsWindow } from './queries.ts';

const WINDOWS: readonly StatsWindow[] = ['1h', '24h', '7d'];

/** What attempts came to, over a window that lives in the address. */
export function StatsCharts({ receiver }: { readonly receiver: string }) {
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
              buckets={buckets.map(({ at, p50Ms, p95Ms }) => ({ at, p50: p50Ms, high: p95Ms }))}
            />
          </div>
        )}
      </Loaded>
    </section>
  );
}
