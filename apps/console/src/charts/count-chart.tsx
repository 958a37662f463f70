import { chartTexts } from '../texts/texts.ts';
import { ChartFrame, PLOT_HEIGHT } from './chart-frame.tsx';
import { niceTop } from './scale.ts';

type Bucket = { readonly at: string; readonly delivered: number; readonly failedAttempts: number };

/** How many attempts succeeded and failed, by time: bars on top of each other. */
export function CountChart({ buckets }: { readonly buckets: readonly Bucket[] }) {
  const { outcomes, delivered: goodName, failed: badName, counts, countsLabel } = chartTexts;
  const isEmpty = buckets.every(({ delivered, failedAttempts }) => delivered + failedAttempts === 0);
  const top = niceTop(Math.max(1, ...buckets.map(({ delivered, failedAttempts }) => delivered + failedAttempts)));
  const total = (name: 'delivered' | 'failedAttempts') => buckets.reduce((sum, bucket) => sum + bucket[name], 0);
  return (
    <ChartFrame
      title={outcomes}
      label={countsLabel(total('delivered'), total('failedAttempts'))}
      legend={[
        ['bar-good', goodName],
        ['bar-bad', badName],
      ]}
      times={buckets.map(({ at }) => at)}
      topText={isEmpty ? '' : String(top)}
      // There is no half of an attempt.
      middleText={isEmpty || top % 2 === 1 ? '' : String(top / 2)}
      emptyText={isEmpty ? chartTexts.noAttempt : undefined}
      describe={(index) => counts(buckets[index]?.delivered ?? 0, buckets[index]?.failedAttempts ?? 0)}
    >
      {({ toX, stepX, toY }) =>
        buckets.map(({ delivered, failedAttempts }, index) => {
          const gap = stepX > 4 ? 1 : 0.4;
          // One among many is to be seen, too.
          const heightOf = (count: number) => (count === 0 ? 0 : Math.max(2, (count / top) * PLOT_HEIGHT));
          const [good, bad] = [heightOf(delivered), heightOf(failedAttempts)];
          const width = Math.max(3, stepX - gap);
          return (
            <>
              {good > 0 && (
                <rect class="bar-good" x={toX(index) + gap / 2} width={width} y={toY(0) - good} height={good} />
              )}
              {bad > 0 && (
                <rect class="bar-bad" x={toX(index) + gap / 2} width={width} y={toY(0) - good - bad} height={bad} />
              )}
            </>
          );
        })
      }
    </ChartFrame>
  );
}
