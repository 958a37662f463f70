import { isFiltered, readFilter, toQuery, writeFilter } from './filter.ts';

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

test('a range is a time of the API', () => {
  expect(toQuery({ range: '1h', status: 'pending' }, NOW)).toEqual({
    status: 'pending',
    since: '2030-01-31T11:00:00.000Z',
  });
});
