/** NaN, for no meaningful number, is printed as a dash. */
export type Cell = string | number;

export type Table = {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** Sentences below the table: how it was measured, and how reliable it is. */
  readonly notes?: readonly string[];
};

export function formatTable({ title, columns, rows, notes = [] }: Table): string {
  const lines = [columns, ...rows.map((row) => row.map(formatCell))];
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const pad = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  const toLine = (line: readonly string[]) => `| ${line.map(pad).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  const [head = [], ...body] = lines;
  return ['', title, '', toLine(head), rule, ...body.map(toLine), '', ...notes].join('\n');
}

function formatCell(cell: Cell): string {
  if (typeof cell === 'string') return cell;
  if (Number.isNaN(cell)) return '–';
  if (cell === Infinity) return '∞';
  if (cell !== 0 && Math.abs(cell) < 10) return cell.toFixed(2);
  return Math.round(cell).toLocaleString('en');
}

/** The value below which the given share (0 to 1) of the sorted values lies; NaN of none. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? NaN;
  return (lower + upper) / 2;
}

/** The spread of measurements as a share of their median: (largest - smallest) / median. */
export function spread(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / median(values);
}
