const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** A number of bytes in its largest unit: `1.5 GiB`. */
export function byteText(bytes: number): string {
  const size = Math.abs(bytes);
  const index = Math.min(UNITS.length - 1, size < 1 ? 0 : Math.floor(Math.log2(size) / 10));
  const value = bytes / 1_024 ** index;
  return `${value.toFixed(index === 0 || Math.abs(value) >= 100 ? 0 : 1)} ${UNITS[index]}`;
}

/** A rate as people read it: `0.4`, `12`, `1,234`. */
export function rateText(rate: number): string {
  if (rate === 0) return '0';
  return rate < 10 ? rate.toFixed(1) : Math.round(rate).toLocaleString('en');
}
