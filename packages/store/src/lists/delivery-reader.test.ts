import type { ListPlace } from '@herald/core';
import { mergeParts, type ListPart } from './delivery-reader.ts';

/** The places of a text such as `9b 7a`, in their order. */
function places(text: string): ListPlace[] {
  return text.split(' ').flatMap((each) => (each === '' ? [] : [{ at: Number(each[0]), id: each.slice(1) }]));
}

/** A part such as `9b 7a>5a`: its entries, and how far it has looked if that is not to the end. */
function part(text: string): ListPart<ListPlace> {
  const [entries = '', next = ''] = text.split('>');
  const [place] = places(next);
  return { entries: places(entries), ...(place && { next: place }) };
}

test.each<{ parts: [string, string]; limit: number; page: string; why: string }>([
  { parts: ['', ''], limit: 2, page: '', why: 'nothing is left' },
  { parts: ['9a 7a', '8a 6a'], limit: 9, page: '9a 8a 7a 6a', why: 'both looked to the end' },
  { parts: ['9a 7a', '8a 6a'], limit: 3, page: '9a 8a 7a>7a', why: 'the page is full' },
  { parts: ['9a 7a', '8a 6a'], limit: 4, page: '9a 8a 7a 6a', why: 'the page is full and was the last' },
  { parts: ['9a 7a>7a', '8a 6a'], limit: 9, page: '9a 8a 7a>7a', why: 'the first has not looked beyond its last' },
  { parts: ['9a', '8a>5a'], limit: 9, page: '9a 8a>5a', why: 'the second looked further than it found' },
  { parts: ['9a>7a', '8a 6a>6a'], limit: 9, page: '9a 8a>7a', why: 'the nearer end counts' },
  { parts: ['>7a', '6a>5a'], limit: 9, page: '>7a', why: 'an empty page goes on too' },
  { parts: ['7c 7a', '7b'], limit: 2, page: '7c 7b>7b', why: 'ids order one moment' },
])('$parts with at most $limit: $page, $why', ({ parts, limit, page }) => {
  expect(mergeParts(parts.map(part), limit)).toEqual(part(page));
  expect(mergeParts(parts.map(part).reverse(), limit)).toEqual(part(page));
});
