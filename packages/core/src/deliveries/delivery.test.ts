import { groupOf, originOf } from './delivery.ts';

test.each([
  ['the same origin, another path', 'ws_a', 'https://example.com/b?c'],
  ['the default port spelled out', 'ws_a', 'https://example.com:443/'],
  ['another case', 'ws_a', 'https://EXAMPLE.com/a'],
])('%s is the same origin', (_, workspaceId, url) => {
  expect(originOf(workspaceId, url)).toBe(originOf('ws_a', 'https://example.com/a'));
});

test.each([
  ['another workspace', 'ws_b', 'https://example.com/a'],
  ['another host', 'ws_a', 'https://www.example.com/a'],
  ['another port', 'ws_a', 'https://example.com:8443/a'],
])('%s is another origin', (_, workspaceId, url) => {
  expect(originOf(workspaceId, url)).not.toBe(originOf('ws_a', 'https://example.com/a'));
});

test('an origin is 16 characters', () => {
  expect(originOf('ws_a', 'https://example.com/a')).toMatch(/^[a-z2-7]{16}$/);
});

test('a receiver is a group, and so are all callbacks to one origin', () => {
  const origin = originOf('ws_a', 'https://example.com/a');
  expect(groupOf('wh_01kes8t4a0q3m1y5b9z7x2c6vd', origin)).toBe('wh_01kes8t4a0q3m1y5b9z7x2c6vd');
  expect(groupOf('cb_01kes8t4a0q3m1y5b9z7x2c6vd', origin)).toBe(origin);
});
