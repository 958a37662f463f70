import { ParsedText, readItems } from '@herald/runtime/env/env';

const ITEM = /^(\d{1,3})(?:-(\d{1,3}))?$/;

/** `all`, or shards such as `0,2-3`, from 0; sorted, each once. */
export const ShardList = ParsedText(
  (text) => (text.trim() === 'all' ? ('all' as const) : readShards(text)),
  'must be all, or shards separated by commas, such as 0,2-3',
);

function readShards(text: string): readonly number[] | undefined {
  const ranges = readItems(text, readRange);
  return ranges && [...new Set(ranges.flat())].sort((a, b) => a - b);
}

function readRange(item: string): number[] | undefined {
  const [, firstText, lastText = firstText] = ITEM.exec(item) ?? [];
  if (firstText === undefined) return undefined;
  const [first, last] = [Number(firstText), Number(lastText)];
  return first <= last ? Array.from({ length: last - first + 1 }, (_, index) => first + index) : undefined;
}
