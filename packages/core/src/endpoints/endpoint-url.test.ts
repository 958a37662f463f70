import { EndpointUrl } from './endpoint-url.ts';

test.each([
  'https://example.com',
  'https://example.com/hooks?a=1&b=%20',
  'https://example.com:8443/x',
  'https://[2606:4700::1111]/x',
  'https://bücher.example/x',
  `https://example.com/${'x'.repeat(2_028)}`,
])('%s is accepted and kept as it was sent', (url) => {
  expect(EndpointUrl.parse(url)).toBe(url);
});

test.each([
  ['http://example.com', 'must start with https://'],
  ['HTTPS://example.com', 'must start with https://'],
  ['ftp://example.com', 'must start with https://'],
  ['example.com', 'must start with https://'],
  ['', 'must start with https://'],
  ['https:example.com', 'must start with https://'],
  ['https:/example.com', 'must start with https://'],
  ['https://', 'must name a host after https://'],
  ['https:///example.com', 'must name a host after https://'],
  ['https://?x', 'must name a host after https://'],
  [' https://example.com', 'white space'],
  ['https://example.com/a b', 'white space'],
  ['https://exa\tmple.com', 'white space'],
  ['https://example.com\\@evil.example', 'backslashes'],
  ['https://user:pw@example.com', 'credentials'],
  ['https://@example.com', 'credentials'],
  ['https://user@example.com/', 'credentials'],
  ['https://example.com/#part', 'fragment'],
  ['https://exa mple.com', 'white space'],
  ['https://example.com:99999', 'not a valid url'],
  ['https://[::1', 'not a valid url'],
  [`https://example.com/${'x'.repeat(2_029)}`, 'at most 2048 characters'],
])('%j is refused: %s', (url, reason) => {
  const parsed = EndpointUrl.safeParse(url);
  expect(parsed.error?.issues[0]?.message).toContain(reason);
});
