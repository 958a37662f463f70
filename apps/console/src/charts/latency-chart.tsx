import { chartTexts } from '../texts/texts.ts';
import { latencyText, limitText } from '../time/time-text.ts';
import { ChartFrame } from './chart-frame.tsx';
import { linePath, niceTop } from './scale.ts';

/** So few are shown as points: a line through them would be hardly seen. */
const FEW_POINTS = 40;

type Bucket = { readonly at: string; readonly p50?: number | undefined; readonly high?: number | undefined };

type Pick = (bucket: Bucket) => number | undefined;

type LatencyChartProps = {
  readonly title: string;
  readonly buckets: readonly Bucket[];
  /** The name of the higher line, such as `p95`. */
  readonly highName: string;
  /** More is not told apart, in ms. */
  readonly longest: number;
};

/** Half of a millisecond is no whole one. */
function axisText(ms: number): string {
  return ms < 1 ? `${ms} ms` : latencyText(ms);
}

/** How long attempts took, by time: the middle, and the slow ones. */
export function LatencyChart({ title, buckets, highName, longest }: LatencyChartProps) {
  const top = niceTop(Math.max(1, ...buckets.map(({ p50 = 0, high = 0 }) => Math.max(p50, high))));
  const last = buckets.findLast(({ p50 }) => p50 !== undefined);
  const say = ({ p50, high }: Bucket) =>
    p50 === undefined
      ? chartTexts.nothing
      : `p50 ${limitText(p50, longest)}, ${highName} ${limitText(high ?? p50, longest)}`;
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
        const x = (index: number) => toX(index) + stepX / 2;
        const y = (value: number) => toY(value / top);
        const line = (pick: Pick) => linePath(buckets.map(pick), x, y);
        const points = (pick: Pick) =>
          buckets.flatMap((bucket, index) => {
            const value = pick(bucket);
            return value === undefined ? [] : [{ x: x(index), y: y(value) }];
          });
        const [middle, high]: [Pick, Pick] = [({ p50 }) => p50, (bucket) => bucket.high];
        const isSparse = points(middle).length <= FEW_POINTS;
        return (
          <>
            <path class="line-high" d={line(high)} />
            <path class="line-middle" d={line(middle)} />
            {isSparse &&
              points(high).map((at) => <rect class="point-high" x={at.x - 3} y={at.y - 3} width="6" height="6" />)}
            {isSparse && points(middle).map((at) => <circle class="point-middle" cx={at.x} cy={at.y} r="2.5" />)}
          </>
        );
      }}
    </ChartFrame>
  );
}
