import type { Insist } from './patient-client.ts';
import { walkList } from './walk-list.ts';

const EFFECT = { from: 0, by: 0, until: 0, isUnclear: false };
const A = { id: 'dlv_a', createdAt: 'later' };
const B = { id: 'dlv_b', createdAt: 'earlier' };

/** Answers each page with the next of these, and notes what was asked for. */
function listOf(...pages: { status?: number; body: object }[]) {
  const asked: string[] = [];
  const insist: Insist = (_method, path) => {
    asked.push(path);
    const { status = 200, body = {} } = pages[asked.length - 1] ?? {};
    return Promise.resolve({ status, body, text: JSON.stringify(body), headers: {}, durationMs: 1, effect: EFFECT });
  };
  return { asked, options: { insist, key: 'k', path: '/list', query: { limit: '1' } } };
}

test('pages follow each other by their cursors, to the last', async () => {
  const { asked, options } = listOf(
    { body: { deliveries: [A], nextCursor: 'c=1' } },
    { body: { deliveries: [B], nextCursor: null } },
  );
  expect(await walkList(options)).toEqual({ entries: [A, B], isWhole: true, pages: 2, partial: 0 });
  expect(asked).toEqual(['/list?limit=1', '/list?limit=1&cursor=c%3D1']);
});

test('a list is not whole when a page was without the history, or when it was left early', async () => {
  const partial = listOf(
    { body: { deliveries: [A], nextCursor: 'c', historyUnavailable: true } },
    { body: { deliveries: [], nextCursor: null } },
  );
  expect(await walkList(partial.options)).toEqual({ entries: [A], isWhole: false, pages: 2, partial: 1 });
  const left = await walkList({ ...listOf().options, signal: AbortSignal.abort() });
  expect(left).toEqual({ entries: [], isWhole: false, pages: 0, partial: 0 });
});

test('a list that is not there is told from one whose page is refused', async () => {
  expect(await walkList(listOf({ status: 404, body: {} }).options)).toBeUndefined();
  await expect(walkList(listOf({ status: 422, body: { code: 'no' } }).options)).rejects.toThrow(
    'a page of /list was answered {"code":"no"}',
  );
});
