import { codeWords } from '../texts/code-words.ts';
import { isFiltered, mergeHead, readFilter, toQuery, writeFilter } from './list-state.ts';

const NOW = Date.UTC(2030, 0, 31, 12);

test('a filter is read from the address as it was written, beside what else is there', () => {
  const filter = { status: 'failed', event: 'task.done', range: '24h', task: 'task_01' } as const;
  const query = writeFilter(filter, new URLSearchParams('window=7d'));
  expect(query.get('window')).toBe('7d');
  expect(readFilter(query)).toEqual(filter);
  expect(writeFilter({}, query).toString()).toBe('window=7d');
});

test('what means nothing is left out', () => {
  const filter = readFilter(new URLSearchParams('status=lost&event=task.&range=1y&task=<script>'));
  expect(filter).toEqual({});
  expect(isFiltered(filter)).toBe(false);
});

test('no two codes to choose from have the same words', () => {
  const words = Object.values(codeWords);
  expect(new Set(words).size).toBe(words.length);
});

test('a range is a time of the API', () => {
  expect(toQuery({ range: '1h', status: 'pending' }, NOW)).toEqual({
    status: 'pending',
    since: '2030-01-31T11:00:00.000Z',
  });
});

const row = (id: string, status = 'pending') => ({ id, status });

test('a row that changed changes at its place, and new ones are only counted', () => {
  const merged = mergeHead([row('b'), row('a')], [row('d'), row('c'), row('b', 'delivered')]);
  expect(merged).toEqual({ rows: [row('b', 'delivered'), row('a')], fresh: [row('d'), row('c')], isMore: false });
});

test('where no shown row is among the newest, there may be more than those', () => {
  expect(mergeHead([row('a')], [row('z'), row('y')]).isMore).toBe(true);
  expect(mergeHead([row('a')], []).isMore).toBe(false);
});
