import { chartTexts } from '../texts/chart-texts.ts';
import { latencyText } from '../time/time-text.ts';
import { ChartFrame } from './chart-frame.tsx';
import { linePath, niceTop } from './scale.ts';

type Bucket = { readonly at: string; readonly p50?: number | undefined; readonly high?: number | undefined };

type LatencyChartProps = {
  readonly title: string;
  readonly buckets: readonly Bucket[];
  /** The name of the higher line, such as `p95`. */
  readonly highName: string;
};

/** Half of a millisecond is no whole one. */
function axisText(ms: number): string {
  return ms < 1 ? `${ms} ms` : latencyText(ms);
}

/** How long attempts took, by time: the middle, and the slow ones. */
export function LatencyChart({ title, buckets, highName }: LatencyChartProps) {
  const top = niceTop(Math.max(1, ...buckets.map(({ p50 = 0, high = 0 }) => Math.max(p50, high))));
  const last = buckets.findLast(({ p50 }) => p50 !== undefined);
  const say = ({ p50, high }: Bucket) =>
    p50 === undefined ? chartTexts.nothing : `p50 ${latencyText(p50)}, ${highName} ${latencyText(high ?? p50)}`;
  return (
    <ChartFrame
      title={title}
      label={chartTexts.latencyLabel(title, last ? say(last) : chartTexts.nothing)}
      legend={[
        ['line-middle', 'p50'],
        ['line-high', highName],
      ]}
      times={buckets.map(({ at }) => at)}
      topText={last ? latencyText(top) : ''}
      middleText={last ? axisText(top / 2) : ''}
      emptyText={last ? undefined : chartTexts.noLatency}
      describe={(index) => say(buckets[index] ?? { at: '' })}
    >
      {({ toX, stepX, toY }) => {
        const place = (pick: (bucket: Bucket) => number | undefined) =>
          linePath(
            buckets.map(pick),
            (index) => toX(index) + stepX / 2,
            (value) => toY(value / top),
          );
        return (
          <>
            <path class="line-high" d={place(({ high }) => high)} />
            <path class="line-middle" d={place(({ p50 }) => p50)} />
          </>
        );
      }}
    </ChartFrame>
  );
}
