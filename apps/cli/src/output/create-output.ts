import { styleText } from 'node:util';
import type { Cell } from './cell.ts';
import { plainText } from './cell.ts';
import { renderTable } from './render-table.ts';
import { relativeText } from './time-text.ts';

/** Where a command's words go. Answers are on stdout; notes and problems on stderr, so that stdout stays what was asked for. */
export type Output = {
  readonly line: (text: string) => void;
  /** One document, for programs. */
  readonly json: (document: unknown) => void;
  /** For people aligned; not on a terminal as tab-separated values with exact times, the names of the columns first. */
  readonly table: (columns: readonly string[], rows: readonly (readonly Cell[])[], whenEmpty: string) => void;
  /** One thing, a fact per line; facts that are undefined are left out. */
  readonly facts: (facts: Readonly<Record<string, Cell>>) => void;
  /** Something to know beside the answer. */
  readonly note: (text: string) => void;
  /** What went wrong; the exit code becomes 1. */
  readonly problem: (text: string) => void;
  readonly paint: (cell: Cell) => string;
};

export type OutputDeps = {
  readonly stdout: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;
  readonly stderr: Pick<NodeJS.WriteStream, 'write'>;
  readonly env: NodeJS.ProcessEnv;
  /** Epoch ms. */
  readonly now: () => number;
  readonly setExitCode: (code: number) => void;
};

export function createOutput({ stdout, stderr, env, now, setExitCode }: OutputDeps): Output {
  const isTerminal = stdout.isTTY;
  // https://no-color.org: present and not empty, whatever its value
  const hasColours = isTerminal && !env.NO_COLOR && env.TERM !== 'dumb';
  const line = (text: string) => {
    stdout.write(`${text}\n`);
  };
  const paint = (cell: Cell): string => {
    if (cell === undefined) return isTerminal ? '-' : '';
    if (typeof cell === 'number') return String(cell);
    if (cell instanceof Date) return isTerminal ? relativeText(cell.getTime(), now()) : cell.toISOString();
    if (typeof cell === 'string') return plainText(cell);
    const text = plainText(cell.text);
    return hasColours ? styleText(cell.style, text, { validateStream: false }) : text;
  };
  return {
    line,
    json(document) {
      line(JSON.stringify(document, undefined, 2));
    },
    table(columns, rows, whenEmpty) {
      const cells = rows.map((row) => row.map(paint));
      if (!isTerminal) for (const row of [columns, ...cells]) line(row.join('\t'));
      else if (rows.length === 0) line(whenEmpty);
      else
        line(
          renderTable(
            columns.map((name) => paint({ text: name.toUpperCase(), style: 'dim' })),
            cells,
          ),
        );
    },
    facts(facts) {
      const known = Object.entries(facts).filter(([, cell]) => cell !== undefined);
      const width = Math.max(...known.map(([name]) => name.length));
      for (const [name, cell] of known) {
        const exact = cell instanceof Date && isTerminal ? `${cell.toISOString()} (${paint(cell)})` : paint(cell);
        line(isTerminal ? `${paint({ text: name.padEnd(width), style: 'dim' })}  ${exact}` : `${name}\t${exact}`);
      }
    },
    note(text) {
      stderr.write(`${text}\n`);
    },
    problem(text) {
      stderr.write(`${text}\n`);
      setExitCode(1);
    },
    paint,
  };
}
