type Bucket = { readonly delivered: number; readonly failedAttempts: number };

const WIDTH = 96;
const HEIGHT = 24;
/** Bars of it. Buckets are put together. */
const BARS = 24;

/** A day of deliveries, small: what arrived upwards, and what failed on top of it. */
export function Sparkline({ buckets, label }: { readonly buckets: readonly Bucket[]; readonly label: string }) {
  const bars = squeeze(buckets, BARS);
  const top = Math.max(1, ...bars.map(({ delivered, failedAttempts }) => delivered + failedAttempts));
  const step = WIDTH / BARS;
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(1.5, (count / top) * (HEIGHT - 2)));
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={label}
    >
      <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} class="axis" />
      {bars.map(({ delivered, failedAttempts }, index) => {
        const good = heightOf(delivered);
        const bad = heightOf(failedAttempts);
        return (
          <>
            {good > 0 && (
              <rect class="bar-good" x={index * step + 0.5} width={step - 1} y={HEIGHT - 1 - good} height={good} />
            )}
            {bad > 0 && (
              <rect
                class="bar-bad"
                x={index * step + 0.5}
                width={step - 1}
                y={Math.max(0, HEIGHT - 1 - good - bad)}
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
function squeeze(buckets: readonly Bucket[], count: number): Bucket[] {
  const size = Math.max(1, Math.ceil(buckets.length / count));
  return Array.from({ length: Math.ceil(buckets.length / size) }, (_, index) => {
    const some = buckets.slice(index * size, (index + 1) * size);
    return {
      delivered: some.reduce((sum, { delivered }) => sum + delivered, 0),
      failedAttempts: some.reduce((sum, { failedAttempts }) => sum + failedAttempts, 0),
    };
  });
}
