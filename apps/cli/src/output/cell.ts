import type { styleText } from 'node:util';

type Style = Extract<Parameters<typeof styleText>[0], string>;

/** A text with a style, which only terminals show. */
export type Painted = { readonly text: string; readonly style: Style };

/** A time within a text. */
export type Timed = { readonly before: string; readonly at: Date; readonly after: string };

/** The content of a column. A time is shown relative to now on a terminal, and exact elsewhere. */
export type Cell = string | number | Date | Painted | Timed | undefined;

export const plain = (text: string): Cell => text;
export const good = (text: string): Painted => ({ text, style: 'green' });
export const doubtful = (text: string): Painted => ({ text, style: 'yellow' });
export const bad = (text: string): Painted => ({ text, style: 'red' });
