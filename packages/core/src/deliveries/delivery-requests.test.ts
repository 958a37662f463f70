import { PageLimit } from './delivery-requests.ts';

test.each(['1', '50', '100'])('a page may hold %s items', (text) => {
  expect(PageLimit.parse(text)).toBe(Number(text));
});

test.each(['0', '101', '-1', '1.5', '1e1', '', ' 1', 'all'])('a page cannot hold %j items', (text) => {
  expect(PageLimit.safeParse(text).success).toBe(false);
});
