import { z } from 'zod';

const ITEM = /^(\d{1,3})(?:-(\d{1,3}))?$/;

/** `all` (undefined), or shards such as `0,2-3`, from 0; sorted, each once. */
export const ShardList = z.string().transform((text, context): readonly number[] | undefined => {
  if (text.trim() === 'all') return undefined;
  const read = text.split(',').map((item) => readRange(item.trim()));
  const ranges = read.filter((range) => range !== undefined);
  if (ranges.length === read.length) return [...new Set(ranges.flat())].sort((a, b) => a - b);
  context.addIssue({ code: 'custom', message: 'must be all, or shards separated by commas, such as 0,2-3' });
  return z.NEVER;
});

function readRange(item: string): number[] | undefined {
  const [, firstText, lastText = firstText] = ITEM.exec(item) ?? [];
  if (firstText === undefined) return undefined;
  const [first, last] = [Number(firstText), Number(lastText)];
  return first <= last ? Array.from({ length: last - first + 1 }, (_, index) => first + index) : undefined;
}
