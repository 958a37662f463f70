import { readProxyUrl } from './egress-env.ts';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

test.each([
  ['http://proxy.example.com:3128', { isTls: false, host: 'proxy.example.com', port: 3128 }],
  ['http://proxy.example.com:3128/', { isTls: false, host: 'proxy.example.com', port: 3128 }],
  ['http://10.0.0.5', { isTls: false, host: '10.0.0.5', port: 80 }],
  ['https://proxy', { isTls: true, host: 'proxy', port: 443 }],
  ['https://[fd00::5]:8443', { isTls: true, host: 'fd00::5', port: 8443 }],
  ['http://u:p@proxy:3128', { isTls: false, host: 'proxy', port: 3128, authorization: basic('u:p') }],
  ['http://u@proxy:3128', { isTls: false, host: 'proxy', port: 3128, authorization: basic('u:') }],
  ['http://u%40x:p%3A%2F%25%C3%BC@proxy', { isTls: false, host: 'proxy', port: 80, authorization: basic('u@x:p:/%ü') }],
])('%s is read', (text, address) => {
  expect(readProxyUrl(text)).toEqual(address);
});

test.each([
  ['no scheme', 'proxy.example.com:3128', 'http:// or https://'],
  ['another scheme', 'socks5://s3cret@proxy:1080', 'http:// or https://'],
  ['a url that a parser would repair', 'http:proxy:3128', 'http:// or https://'],
  ['backslashes', 'http:\\\\s3cret@proxy', 'http:// or https://'],
  ['no host', 'http://:3128', 'http:// or https://'],
  ['a port that is none', 'http://s3cret@proxy:99999', 'http:// or https://'],
  ['port 0', 'http://proxy:0', 'port from 1 to 65535'],
  ['a space', 'http://u:s3cret x@proxy', 'http:// or https://'],
  ['a line break', 'http://u:s3cret\r\nx: y@proxy', 'http:// or https://'],
  ['a path', 'http://u:s3cret@proxy/path', 'no path, query or fragment'],
  ['a query', 'http://u:s3cret@proxy/?x', 'no path, query or fragment'],
  ['an empty query', 'http://u:s3cret@proxy?', 'no path, query or fragment'],
  ['a fragment', 'http://u:s3cret@proxy#', 'no path, query or fragment'],
  ['a lone %', 'http://u:s3cret%@proxy', 'percent-encoded'],
  ['a user with a colon', 'http://u%3Ax:s3cret@proxy', 'no colon'],
  ['a line break in the password', 'http://u:s3cret%0d%0ax@proxy', 'no control characters'],
])('%s is refused, with a sentence that does not repeat it', (_what, text, sentence) => {
  expect(() => readProxyUrl(text)).toThrow(sentence);
  expect(() => readProxyUrl(text)).not.toThrow('s3cret');
});
