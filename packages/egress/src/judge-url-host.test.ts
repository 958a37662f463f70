import { createAddressPolicy } from './address-policy.ts';
import { BLOCKED_PORTS, judgeUrlHost } from './judge-url-host.ts';

const publicOnly = createAddressPolicy({ allowCidrs: [] });
const withLoopback = createAddressPolicy({ allowCidrs: ['127.0.0.0/8', '::1/128'] });

test.each([
  'https://example.com/hook',
  'https://hooks.example.co.uk:8443/',
  'https://xn--bcher-kva.example/',
  'https://bücher.example/',
  'https://1.1.1.1/',
  'https://[2606:4700:4700::1111]:444/',
  'https://localhost.example.com/',
  'https://internal.example.com/',
  'https://127.0.0.1.example.com/',
  'https://nobody.invalid/',
])('%s may be registered', (url) => {
  expect(judgeUrlHost(new URL(url), publicOnly)).toBeUndefined();
});

test.each([
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://0x7f000001/',
  'https://0177.0.0.1/',
  'https://127.0.0.1./',
  'https://１２７.０.０.１/',
  'https://%31%32%37.0.0.1/',
  'https://①②⑦.0.0.1/',
  'https://0/',
  'https://169.254.169.254/',
  'https://10.0.0.1:8443/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[fd00::1]/',
  'https://[2001:db8::1]/',
])('%s is refused as an address that is not public', (url) => {
  expect(judgeUrlHost(new URL(url), publicOnly)).toContain('must name a public address, not ');
});

test.each([
  ['https://localhost/', 'must name a public host, not localhost'],
  ['https://LOCALHOST:8443/', 'must name a public host, not localhost'],
  ['https://api.localhost/', 'must name a public host, not api.localhost'],
  ['https://localhost./', 'must not end its host name with a dot'],
  ['https://example.com./', 'must not end its host name with a dot'],
  ['https://example.com../', 'must not end its host name with a dot'],
  ['https://./', 'must not end its host name with a dot'],
  ['https://a..example.com/', 'must not begin its host name with a dot or have two in a row'],
  ['https://a.example..com:8443/', 'must not begin its host name with a dot or have two in a row'],
  ['https://.example.com/', 'must not begin its host name with a dot or have two in a row'],
  ['https://..example.com/', 'must not begin its host name with a dot or have two in a row'],
  ['https://b\u00fccher..example/', 'must not begin its host name with a dot or have two in a row'],
  ['https://.localhost/', 'must not begin its host name with a dot or have two in a row'],
  ['https://printer.local/', 'a private network'],
  ['https://metadata.google.internal/', 'a private network'],
  ['https://nas.home.arpa/', 'a private network'],
  ['https://localhost.localdomain/', 'a private network'],
  ['https://wiki.corp/', 'a private network'],
  ['https://router.lan/', 'a private network'],
  ['https://intranet/', 'must have a full host name, not '],
  ['https://redis:8443/', 'must have a full host name, not '],
  ['https://example.com:25/', 'port 25'],
  ['https://example.com:6667/', 'port 6667'],
  ['https://example.com:0/', 'port 0'],
  ['https://1.1.1.1:22/', 'port 22'],
])('%s is refused: %s', (url, reason) => {
  expect(judgeUrlHost(new URL(url), publicOnly)).toContain(reason);
});

test.each([
  'https://localhost:8443/',
  'https://api.localhost/',
  'https://127.0.0.1/',
  'https://0x7f.1/',
  'https://[::1]/',
])('%s may be registered where loopback is open', (url) => {
  expect(judgeUrlHost(new URL(url), withLoopback)).toBeUndefined();
});

test.each([
  'https://redis/',
  'https://printer.local/',
  'https://10.0.0.1/',
  'https://localhost:25/',
  'https://localhost./',
  'https://a..localhost/',
])('%s is refused even where loopback is open', (url) => {
  expect(judgeUrlHost(new URL(url), withLoopback)).toEqual(expect.any(String));
});

/** Whether Node's own fetch, which follows the Fetch standard, would open a connection to this port. */
async function isBlockedByFetch(port: number): Promise<boolean> {
  const dispatcher = {
    dispatch() {
      throw new Error('it would connect');
    },
  };
  const options = { dispatcher } as unknown as RequestInit;
  const failure: unknown = await fetch(`http://nowhere.test:${port}/`, options).catch((error: unknown) => error);
  return (failure as { cause?: Error }).cause?.message === 'bad port';
}

test('blocks exactly the ports that browsers block, and port 0', async () => {
  const blocked: number[] = [0];
  // The highest is 10,080; the rest was looked through once.
  for (let port = 1; port <= 10_100; port++) if (await isBlockedByFetch(port)) blocked.push(port);
  expect([...BLOCKED_PORTS]).toEqual(blocked);
});
