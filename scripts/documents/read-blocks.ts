import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** A block of code in a page. */
export type Block = {
  readonly page: string;
  /** Of its first fence, from 1. */
  readonly line: number;
  /** Empty when the fence names none. */
  readonly language: string;
  readonly text: string;
  /** The comment before it, such as `prints` or `not run: <why>`; empty without one. */
  readonly note: string;
};

/** The blocks of a page of the repository, in their order. */
export function readBlocks(page: string): Block[] {
  const content = readFileSync(join(ROOT, page), 'utf8');
  return [...content.matchAll(/(?:^ *<!-- ([^>]*) -->\n\n)?^( *)```(\w*)\n([^]*?)^ *```$/gm)].map((match) => {
    const [whole, note = '', indent = '', language = '', text = ''] = match;
    const before = content.slice(0, match.index) + whole.slice(0, whole.indexOf('```'));
    const lines = text.split('\n').map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
    return { page, line: before.split('\n').length, language, text: lines.join('\n'), note: note.trim() };
  });
}
