import { isDoer, readAuditFilter, toAuditQuery, writeAuditFilter } from './audit-filter.ts';

const NOW = Date.UTC(2030, 0, 31, 12);

test('a filter is read from the address as it was written', () => {
  const filter = { workspace: 'ws_acme', by: 'key_0a1b', range: '24h' } as const;
  expect(readAuditFilter(new URLSearchParams(writeAuditFilter(filter)))).toEqual(filter);
  expect(writeAuditFilter({ workspace: undefined, by: 'cli' })).toEqual({ by: 'cli' });
});

test('what means nothing is left out', () => {
  expect(readAuditFilter(new URLSearchParams('workspace=<script>&by=ann&range=1y'))).toEqual({});
});

test.each(['key_0123456789abcdef', 'plk_0123456789abcdef', 'operator', 'cli'])('%s can have done something', (text) => {
  expect(isDoer(text)).toBe(true);
});

test('a range is a time of the API', () => {
  expect(toAuditQuery({ range: '1h', by: 'operator' }, NOW)).toEqual({
    by: 'operator',
    since: '2030-01-31T11:00:00.000Z',
  });
  expect(toAuditQuery({}, NOW)).toEqual({});
});
