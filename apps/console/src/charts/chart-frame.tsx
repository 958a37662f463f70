import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { clockTime, dayText, exactTime } from '../time/time-text.ts';

/** Room for the numbers of the axes. */
const LEFT = 56;
const RIGHT = 4;
const TOP = 8;
const BOTTOM = 20;
const HEIGHT = 148;
export const PLOT_HEIGHT = HEIGHT - TOP - BOTTOM;

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
export function ChartFrame(props: ChartFrameProps) {
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
