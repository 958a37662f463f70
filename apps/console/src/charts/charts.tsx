import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { chartTexts } from '../texts/texts.ts';
import { clockTime, dayText, exactTime, latencyText, limitText } from '../time/time-text.ts';
import { linePath, niceTop } from './scale.ts';

type CountBucket = { readonly at: string; readonly delivered: number; readonly failedAttempts: number };

/** How many attempts succeeded and failed, by time: bars on top of each other. */
export function CountChart({ buckets }: { readonly buckets: readonly CountBucket[] }) {
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

/** So few are shown as points: a line through them would be hardly seen. */
const FEW_POINTS = 40;

type LatencyBucket = { readonly at: string; readonly p50?: number | undefined; readonly high?: number | undefined };

type PickTime = (bucket: LatencyBucket) => number | undefined;

type LatencyChartProps = {
  readonly title: string;
  readonly buckets: readonly LatencyBucket[];
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
  const say = ({ p50, high }: LatencyBucket) =>
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
        const line = (pick: PickTime) => linePath(buckets.map(pick), x, y);
        const points = (pick: PickTime) =>
          buckets.flatMap((bucket, index) => {
            const value = pick(bucket);
            return value === undefined ? [] : [{ x: x(index), y: y(value) }];
          });
        const [middle, high]: [PickTime, PickTime] = [({ p50 }) => p50, (bucket) => bucket.high];
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

/** Room for the numbers of the axes. */
const LEFT = 76;
const RIGHT = 4;
const TOP = 8;
const BOTTOM = 20;
const HEIGHT = 148;
const PLOT_HEIGHT = HEIGHT - TOP - BOTTOM;

type Place = {
  /** Where a bucket begins, and how wide it is. */
  readonly toX: (index: number) => number;
  readonly stepX: number;
  /** Where a share of the top is: 0 is the bottom. */
  readonly toY: (share: number) => number;
};

type ChartFrameProps = {
  readonly title: string;
  /** What the chart shows, in a sentence: for those who don't see it. */
  readonly label: string;
  readonly legend: readonly (readonly [mark: string, name: string])[];
  readonly times: readonly string[];
  /** The number at the top, and at half of it. */
  readonly topText: string;
  readonly middleText: string;
  /** Said in its place when there is nothing to draw. */
  readonly emptyText?: string | undefined;
  /** What a bucket holds, shown on hover. */
  readonly describe: (index: number) => string;
  readonly children: (place: Place) => ComponentChildren;
};

/** Axes, legend and the words of a bucket, around a chart over time. */
function ChartFrame(props: ChartFrameProps) {
  const { title, label, legend, times, topText, middleText, emptyText, describe, children } = props;
  const { ref, width } = useElementWidth(560);
  const stepX = (width - LEFT - RIGHT) / Math.max(1, times.length);
  const toX = (index: number) => LEFT + index * stepX;
  const toY = (share: number) => TOP + PLOT_HEIGHT * (1 - share);
  const ticks = [0, Math.floor(times.length / 2), times.length - 1];
  return (
    <figure class="chart" ref={ref}>
      <figcaption>
        <span class="chart-title">{title}</span>
        {legend.map(([mark, name]) => (
          <span class="legend">
            <i class={mark} aria-hidden="true" /> {name}
          </span>
        ))}
      </figcaption>
      <svg width={width} height={HEIGHT} role="img" aria-label={label}>
        {[0, 0.5, 1].map((share) => (
          <line class="axis" x1={LEFT} x2={width - RIGHT} y1={toY(share)} y2={toY(share)} />
        ))}
        <text class="tick tick-left" x={LEFT - 6} y={toY(1) + 4}>
          {topText}
        </text>
        <text class="tick tick-left" x={LEFT - 6} y={toY(0.5) + 4}>
          {middleText}
        </text>
        <text class="tick tick-left" x={LEFT - 6} y={toY(0) + 4}>
          0
        </text>
        {ticks.map((index, place) => (
          <text
            class={`tick tick-${['start', 'middle', 'end'][place] ?? ''}`}
            x={toX(index) + (place === 2 ? stepX : 0)}
            y={HEIGHT - 4}
          >
            {tickText(times[index], times)}
          </text>
        ))}
        {emptyText !== undefined && (
          <text class="tick tick-middle" x={(LEFT + width - RIGHT) / 2} y={toY(0.5) - 6}>
            {emptyText}
          </text>
        )}
        {children({ toX, stepX, toY })}
        {times.map((at, index) => (
          <rect class="hover" x={toX(index)} width={stepX} y={TOP} height={PLOT_HEIGHT}>
            <title>{`${exactTime(Date.parse(at)).replace(/:\d\d\.000/, '')}\n${describe(index)}`}</title>
          </rect>
        ))}
      </svg>
    </figure>
  );
}

const DAY_MS = 86_400_000;

/** The time of day, or the day where there are several. */
function tickText(at: string | undefined, times: readonly string[]): string {
  if (at === undefined) return '';
  const ms = Date.parse(at);
  const spanMs = Date.parse(times.at(-1) ?? at) - Date.parse(times[0] ?? at);
  if (spanMs > 2 * DAY_MS) return dayText(ms);
  return clockTime(ms).slice(0, 5);
}

/** The width of an element, so that a drawing in it needs no stretching. */
function useElementWidth(first: number) {
  const ref = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(first);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.max(200, Math.floor(entry.contentRect.width)));
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
    };
  }, []);
  return { ref, width };
}

type SparkBucket = { readonly delivered: number; readonly failedAttempts: number };

const SPARK_WIDTH = 96;
const SPARK_HEIGHT = 24;
/** Bars of it. Buckets are put together. */
const BARS = 24;

/** A day of deliveries, small: what arrived upwards, and what failed on top of it. */
export function Sparkline({ buckets, label }: { readonly buckets: readonly SparkBucket[]; readonly label: string }) {
  const bars = squeeze(buckets, BARS);
  const top = Math.max(1, ...bars.map(({ delivered, failedAttempts }) => delivered + failedAttempts));
  const step = SPARK_WIDTH / BARS;
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(1.5, (count / top) * (SPARK_HEIGHT - 2)));
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`}
      width={SPARK_WIDTH}
      height={SPARK_HEIGHT}
      role="img"
      aria-label={label}
    >
      <line x1="0" x2={SPARK_WIDTH} y1={SPARK_HEIGHT - 0.5} y2={SPARK_HEIGHT - 0.5} class="axis" />
      {bars.map(({ delivered, failedAttempts }, index) => {
        const good = heightOf(delivered);
        const bad = heightOf(failedAttempts);
        return (
          <>
            {good > 0 && (
              <rect
                class="bar-good"
                x={index * step + 0.5}
                width={step - 1}
                y={SPARK_HEIGHT - 1 - good}
                height={good}
              />
            )}
            {bad > 0 && (
              <rect
                class="bar-bad"
                x={index * step + 0.5}
                width={step - 1}
                y={Math.max(0, SPARK_HEIGHT - 1 - good - bad)}
                height={bad}
              />
            )}
          </>
        );
      })}
    </svg>
  );
}

/** Adds up neighbours until no more than `count` are left. */
function squeeze(buckets: readonly SparkBucket[], count: number): SparkBucket[] {
  const size = Math.max(1, Math.ceil(buckets.length / count));
  return Array.from({ length: Math.ceil(buckets.length / size) }, (_, index) => {
    const some = buckets.slice(index * size, (index + 1) * size);
    return {
      delivered: some.reduce((sum, { delivered }) => sum + delivered, 0),
      failedAttempts: some.reduce((sum, { failedAttempts }) => sum + failedAttempts, 0),
    };
  });
}
