import { setTimeout as pause } from 'node:timers/promises';
import { readBlocks } from '../../../scripts/documents/read-blocks.ts';
import type { Shell } from './start-shell.ts';

const DEADLINE_MS = 15_000;
const EVERY_MS = 100;

/** A block of commands that printed something else than its page says. */
export interface Breach {
  readonly where: string;
  readonly expected: string;
  readonly printed: string;
}

/**
 * Types every block of commands of a page, and compares what it prints with the block after it, if that is marked
 * `prints`. Marked `prints, after a while`, the commands only read, and are typed until they print it.
 * @param adapt changes what the machine decides, such as ports
 */
export async function followGuide(page: string, shell: Shell, adapt: (text: string) => string): Promise<Breach[]> {
  const blocks = readBlocks(page);
  const breaches: Breach[] = [];
  for (const [index, { language, note, text, line }] of blocks.entries()) {
    if (language !== 'sh' || note.startsWith('not run: ')) continue;
    const next = blocks[index + 1];
    const expected = next?.note.startsWith('prints') === true ? adapt(next.text) : undefined;
    const deadline = next?.note === 'prints, after a while' ? performance.now() + DEADLINE_MS : 0;
    let printed = await shell.type(adapt(text));
    while (expected !== undefined && !isPrinted(expected, printed) && performance.now() < deadline) {
      await pause(EVERY_MS);
      printed = await shell.type(adapt(text));
    }
    if (expected !== undefined && !isPrinted(expected, printed))
      breaches.push({ where: `${page}:${line}`, expected, printed });
  }
  return breaches;
}

/** Whether every line of a page is printed, in this order; `…` stands for anything. */
export function isPrinted(expected: string, printed: string): boolean {
  const lines = expected
    .trim()
    .split('\n')
    .map((line) => line.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*'));
  return new RegExp(lines.join('[^]*')).test(printed);
}
