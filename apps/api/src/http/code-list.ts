import { codesOf, type CodeTable } from '@herald/core';
import { z } from 'zod';

/** A closed list of codes in an answer. Its description in the document has a sentence for each. */
export function CodeList<Code extends string>(id: string, table: CodeTable<Code>, about: string) {
  return z.enum(codesOf(table)).meta({ id, description: `${about}\n\n${describeCodes(table)}` });
}

/** The codes of a table with their meanings, in Markdown. */
export function describeCodes<Code extends string>(table: CodeTable<Code>): string {
  return codesOf(table)
    .map((code) => `- \`${code}\`: ${table[code].meaning}`)
    .join('\n');
}
