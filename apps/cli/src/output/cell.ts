import type { styleText } from 'node:util';

type Style = Extract<Parameters<typeof styleText>[0], string>;

/** A text with a colour, which only terminals show. */
export type Painted = { readonly text: string; readonly style: Style };

/** What stands in a column: a Date is relative on a terminal and exact elsewhere; undefined is nothing. */
export type Cell = string | number | Date | Painted | undefined;

export const good = (text: string): Painted => ({ text, style: 'green' });
export const doubtful = (text: string): Painted => ({ text, style: 'yellow' });
export const bad = (text: string): Painted => ({ text, style: 'red' });

// What moves cursors, changes colours, reverses a line or ends it: customers write descriptions, receivers write answers.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** Text of others, on one line and without any power over a terminal. */
export function plainText(text: string): string {
  return text.replace(UNPRINTABLE, ' ');
}
