import { destinationOf } from './destination.ts';

test.each([
  ['the same origin, another path', 'ws_a', 'https://example.com/b?c'],
  ['the default port spelled out', 'ws_a', 'https://example.com:443/'],
  ['another case', 'ws_a', 'https://EXAMPLE.com/a'],
])('%s is the same destination', (_, workspaceId, url) => {
  expect(destinationOf(workspaceId, url)).toBe(destinationOf('ws_a', 'https://example.com/a'));
});

test.each([
  ['another workspace', 'ws_b', 'https://example.com/a'],
  ['another host', 'ws_a', 'https://www.example.com/a'],
  ['another port', 'ws_a', 'https://example.com:8443/a'],
])('%s is another destination', (_, workspaceId, url) => {
  expect(destinationOf(workspaceId, url)).not.toBe(destinationOf('ws_a', 'https://example.com/a'));
});

test('a destination id is 16 characters, because every delivery that waits pays for it', () => {
  expect(destinationOf('ws_a', 'https://example.com/a')).toMatch(/^[a-z2-7]{16}$/);
});
