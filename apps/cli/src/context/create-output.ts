import { styleText } from 'node:util';
import { plainText } from '@herald/core';
import { isErrorLike } from '@herald/runtime/errors';
import { spanText } from '@herald/runtime/text';
import type { Told } from '@herald/store/listening/listeners';
import Table from 'cli-table3';

/** A stream of the process, or one that a test reads. */
export type OutputStream = NodeJS.WritableStream & { readonly isTTY?: boolean };

type OutputDeps = {
  readonly stdout: Pick<OutputStream, 'write' | 'isTTY'>;
  readonly stderr: Pick<OutputStream, 'write'>;
  readonly env: NodeJS.ProcessEnv;
  /** Epoch ms. */
  readonly now: () => number;
  readonly setExitCode: (code: number) => void;
};

// JSON escapes the other ones that control a terminal or hide.
const RAW_IN_JSON = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;
const toEscape = (character: string) =>
  Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');

const CREDENTIAL = /(hrl[dp]_|whsec_)[\w+/=-]+/gi;

/**
 * A text for stderr without the keys, tokens and secrets in it: somebody may give one where an id belongs, and messages
 * repeat what was given.
 */
export function hideCredentials(text: string): string {
  return text.replace(CREDENTIAL, '$1…');
}

/** Writes answers to stdout. Notes and problems go to stderr, so that stdout holds only what was asked for. */
export function createOutput({ stdout, stderr, env, now, setExitCode }: OutputDeps) {
  const isTerminal = stdout.isTTY === true;
  // https://no-color.org: any value but an empty one
  const hasColours = isTerminal && !env.NO_COLOR && env.TERM !== 'dumb';
  const line = (text: string): void => {
    stdout.write(`${text}\n`);
  };
  const note = (text: string): void => {
    stderr.write(`${hideCredentials(text)}\n`);
  };
  const paint = (cell: Cell): string => {
    if (cell === undefined) return isTerminal ? '-' : '';
    if (typeof cell === 'number') return String(cell);
    if (cell instanceof Date) return isTerminal ? relativeText(cell.getTime(), now()) : cell.toISOString();
    if (typeof cell === 'string') return plainText(cell);
    if ('at' in cell) return `${cell.before}${paint(cell.at)}${cell.after}`;
    const text = plainText(cell.text);
    return hasColours ? styleText(cell.style, text, { validateStream: false }) : text;
  };
  const dim = (text: string) => paint({ text, style: 'dim' });
  return {
    line,
    note,
    paint,
    /** Writes a problem; the exit code becomes 1. */
    problem(text: string): void {
      note(text);
      setExitCode(1);
    },
    /** Writes one JSON document, for programs. A Date becomes an ISO time, and what is undefined null. */
    json(document: unknown): void {
      const text = JSON.stringify(document, (_name, value: unknown) => (value === undefined ? null : value), 2);
      line(text.replace(RAW_IN_JSON, toEscape));
    },
    /**
     * Aligned columns on a terminal; elsewhere tab-separated values below the names of the columns. Without a row it
     * writes the sentence `whenEmpty`, elsewhere than on a terminal to stderr.
     */
    table(columns: readonly string[], rows: readonly (readonly Cell[])[], whenEmpty: string): void {
      const cells = rows.map((row) => row.map(paint));
      if (!isTerminal) {
        for (const row of [columns, ...cells]) line(row.join('\t'));
        if (rows.length === 0) note(whenEmpty);
      } else if (rows.length === 0) line(whenEmpty);
      else line(renderTable([columns.map((name) => dim(name.toUpperCase())), ...cells]));
    },
    /** Writes one fact a line, without those that are undefined. */
    facts(facts: Readonly<Record<string, Cell>>): void {
      const known = Object.entries(facts).filter(([, cell]) => cell !== undefined);
      const width = Math.max(...known.map(([name]) => name.length));
      for (const [name, cell] of known) {
        const exact = cell instanceof Date && isTerminal ? `${cell.toISOString()} (${paint(cell)})` : paint(cell);
        line(isTerminal ? `${dim(name.padEnd(width))}  ${exact}` : `${name}\t${exact}`);
      }
    },
  };
}
export type Output = ReturnType<typeof createOutput>;

type Style = Extract<Parameters<typeof styleText>[0], string>;

/** A text with a style, which only terminals show. */
type Painted = { readonly text: string; readonly style: Style };

/** A time within a text. */
type Timed = { readonly before: string; readonly at: Date; readonly after: string };

/** The content of a column. A time is shown relative to now on a terminal, and exact elsewhere. */
export type Cell = string | number | Date | Painted | Timed | undefined;

export const plain = (text: string): Cell => text;
export const good = (text: string): Painted => ({ text, style: 'green' });
export const doubtful = (text: string): Painted => ({ text, style: 'yellow' });
export const bad = (text: string): Painted => ({ text, style: 'red' });

const BORDERS =
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid';
const NO_BORDERS = Object.fromEntries(BORDERS.split(' ').map((part) => [part, '']));

/** Columns aligned by their width on a terminal, with two blanks between them and no borders. */
function renderTable(rows: readonly (readonly string[])[]): string {
  const table = new Table({
    chars: { ...NO_BORDERS, middle: '  ' },
    style: { 'padding-left': 0, 'padding-right': 0, border: [], compact: true },
  });
  table.push(...rows.map((row) => [...row]));
  return table.toString().replace(/ +$/gm, '');
}

/** A time (epoch ms) relative to now: `3 min ago`, `in 5 h`, `now`. */
export function relativeText(at: number, now: number): string {
  const ms = now - at;
  if (Math.abs(ms) < 1_000) return 'now';
  return ms > 0 ? `${spanText(ms)} ago` : `in ${spanText(-ms)}`;
}

/** @param ms epoch ms */
export function toDate(ms: number | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(ms);
}

/** Says when the open streams of a key or a link that was revoked could not be told. */
export function sayUntold(output: Pick<Output, 'note'>, { untold }: Told): void {
  if (untold === undefined) return;
  const why = isErrorLike(untold) ? untold.message : 'for no known reason';
  output.note(
    `It is refused from now on, but Redis told no open stream of it (${why}): a "listen" that is open ends within ten seconds.`,
  );
}
