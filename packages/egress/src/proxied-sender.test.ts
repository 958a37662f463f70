import {
  createCertificateAuthority,
  freePort,
  startHttps,
  startPlain,
  startProxy,
  startTls,
  waitFor,
  type CertificateAuthority,
  type Credentials,
  type LoopbackServer,
  type Proxy,
  type ProxyAnswer,
} from '@herald/test-kit';
import type { AttemptOutcome } from '@herald/core';
import { connect, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { createAddressPolicy } from './address-policy.ts';
import { createProxy } from './create-proxy.ts';
import { createSender } from './create-sender.ts';
import type { Lookup } from './dial.ts';
import type { ProxyFailedError } from './egress-errors.ts';
import { GuardedAgent } from './guarded-agent.ts';
import { readProxyUrl } from './egress-env.ts';

const PUBLIC = '93.184.215.14';
const OTHER_PUBLIC = '93.184.215.15';
const PUBLIC_V6 = '2606:4700::1111';
const LONG_MS = 5_000;
const delivered: AttemptOutcome = { kind: 'responded', status: 200, answer: '' };
const unreachable = (reason: string) => ({ kind: 'unreachable', reason });

let authority: CertificateAuthority;
let credentials: Credentials;
beforeAll(async () => {
  authority = await createCertificateAuthority();
  credentials = await issue(['127.0.0.1', 'receiver.test', 'other.test', PUBLIC]);
});

async function issue(hosts: readonly string[]): Promise<Credentials> {
  const { certPem, keyPem } = await authority.issueCertificate({ hosts });
  return { cert: certPem, key: keyPem };
}

let cleanUp: AsyncDisposableStack;
beforeEach(() => {
  cleanUp = new AsyncDisposableStack();
});
afterEach(() => cleanUp.disposeAsync());

function resolvingTo(...addresses: readonly string[]): Lookup {
  return () => [Promise.resolve(addresses)];
}

interface Setup {
  url: string;
  lookup?: Lookup;
  allowCidrs?: string[];
  deadlineMs?: number;
  caPem?: string | undefined;
}

function start({ url, lookup = resolvingTo(PUBLIC), allowCidrs = [], deadlineMs = LONG_MS, ...setup }: Setup) {
  const events: string[] = [];
  const failures: ProxyFailedError[] = [];
  const { caPem } = { caPem: authority.certPem, ...setup };
  const proxy = createProxy({
    address: readProxyUrl(url),
    caPem,
    report: {
      failed: (error) => {
        failures.push(error);
        events.push(error.reason);
      },
      recovered: () => events.push('recovered'),
    },
  });
  proxy.watch((isOpen) => events.push(isOpen ? 'open' : 'shut'));
  const agent = new GuardedAgent({ policy: createAddressPolicy({ allowCidrs }), lookup, caPem, proxy });
  const sender = createSender({ agent, deadlineMs });
  cleanUp.defer(sender.close);
  const send = async (to: string, signal?: AbortSignal) =>
    (await sender.send({ url: to, headers: {}, body: Buffer.from('{}') }, signal)).outcome;
  return { proxy, agent, sender, send, events, failures };
}

/** Answers 200, and is where the proxy leads to. */
async function startReceiver(): Promise<LoopbackServer> {
  return cleanUp.use(
    await startHttps(credentials, (request, response) => request.resume().on('end', () => response.end())),
  );
}

async function startProxyTo(port: number, options: Parameters<typeof startProxy>[0] = {}): Promise<Proxy> {
  return cleanUp.use(await startProxy({ route: () => ({ host: '127.0.0.1', port }), ...options }));
}

const say = (text: string) => (socket: Socket) => socket.write(text);

describe.each([
  ['http', () => undefined],
  ['https', () => credentials],
])('through a proxy with %s', (_scheme, credentialsOf) => {
  const withTls = () => {
    const given = credentialsOf();
    return given ? { credentials: given } : {};
  };

  test('a request arrives over the connection of the proxy, which was asked for the checked address', async () => {
    const receiver = await startReceiver();
    const proxy = await startProxyTo(receiver.port, withTls());
    const { sender, events } = start({ url: proxy.url });
    // The second time over the connection that was kept. Nobody learns the address of the proxy.
    for (let count = 0; count < 2; count++) {
      const sent = await sender.send({ url: 'https://receiver.test/hook', headers: {}, body: Buffer.from('{}') });
      expect(sent).toMatchObject({ outcome: delivered, address: PUBLIC });
    }
    expect(proxy.asked).toEqual([`${PUBLIC}:443`]);
    expect(proxy.requests).toEqual([
      { method: 'CONNECT', url: `${PUBLIC}:443`, rawHeaders: ['host', `${PUBLIC}:443`] },
    ]);
    expect(receiver.connections.map(({ remotePort }) => remotePort)).toEqual(
      proxy.outgoing.map(({ localPort }) => localPort),
    );
    expect(events).toEqual([]);
  });

  test('a tunnel is kept for its origin, and used by no other', async () => {
    const receiver = await startReceiver();
    const proxy = await startProxyTo(receiver.port, withTls());
    const { send, agent } = start({ url: proxy.url });
    const urls = [
      'https://receiver.test/',
      'https://receiver.test/x',
      'https://other.test/',
      'https://receiver.test:8443/',
    ];
    for (const url of [...urls, ...urls]) expect(await send(url)).toEqual(delivered);
    expect(proxy.asked).toEqual([`${PUBLIC}:443`, `${PUBLIC}:443`, `${PUBLIC}:8443`]);
    expect(agent.idleCount).toBe(3);
  });

  test('a kept tunnel that the proxy has closed is replaced within the attempt', async () => {
    const receiver = await startReceiver();
    const proxy = await startProxyTo(receiver.port, withTls());
    const { send } = start({ url: proxy.url });
    expect(await send('https://receiver.test/')).toEqual(delivered);
    for (const socket of proxy.open) socket.destroy();
    expect(await send('https://receiver.test/')).toEqual(delivered);
    expect(proxy.asked).toHaveLength(2);
  });

  test('a certificate for another name is the fault of the receiver, and the name is told by SNI', async () => {
    const names: string[] = [];
    const SNICallback = (name: string, done: (error: null) => void) => {
      names.push(name);
      done(null);
    };
    const stranger = { ...(await issue(['elsewhere.test'])), SNICallback };
    const receiver = cleanUp.use(await startTls(stranger, () => undefined));
    const proxy = await startProxyTo(receiver.port, withTls());
    const { send, events } = start({ url: proxy.url });
    expect(await send('https://receiver.test/')).toEqual(unreachable('tls_name_mismatch'));
    expect(names).toEqual(['receiver.test']);
    expect(events).toEqual([]);
  });

  test('the address of a URL needs a certificate that names it', async () => {
    const receiver = await startReceiver();
    const proxy = await startProxyTo(receiver.port, withTls());
    const { send } = start({ url: proxy.url });
    expect(await send(`https://${PUBLIC}/`)).toEqual(delivered);
    expect(await send(`https://${OTHER_PUBLIC}/`)).toEqual(unreachable('tls_name_mismatch'));
    expect(proxy.asked).toEqual([`${PUBLIC}:443`, `${OTHER_PUBLIC}:443`]);
  });

  test('a receiver without TLS is at fault, also when it speaks before TLS begins', async () => {
    const proxy = await startProxyTo(0, {
      ...withTls(),
      answer: () => say('HTTP/1.1 200 OK\r\n\r\nSSH-2.0-OpenSSH_9.9\r\n'),
    });
    const { send, events } = start({ url: proxy.url });
    expect(await send('https://receiver.test/')).toEqual(unreachable('tls_not_tls'));
    expect(events).toEqual([]);
  });

  test.each([
    ['HTTP/1.0 200 Connection established\r\n\r\n'],
    ['HTTP/1.1 204 No Content\r\n\r\n'],
    ['HTTP/1.1 200 OK\r\ncontent-length: 500\r\nconnection: close\r\n\r\n'],
  ])('a tunnel begins after the headers of %j', async (head) => {
    const receiver = await startReceiver();
    const answer = (socket: Socket) => {
      socket.write(head);
      socket.pipe(connect(receiver.port, '127.0.0.1')).pipe(socket);
    };
    const proxy = await startProxyTo(0, { ...withTls(), answer: () => answer });
    expect(await start({ url: proxy.url }).send('https://receiver.test/')).toEqual(delivered);
  });

  test('credentials are sent, and are in no error', async () => {
    const receiver = await startReceiver();
    const proxy = await startProxyTo(receiver.port, { ...withTls(), login: 'herald:s3cret' });
    const { send } = start({ url: proxy.url });
    expect(await send('https://receiver.test/')).toEqual(delivered);

    const wrong = start({ url: proxy.url.replace('s3cret', 'wr0ng') });
    const refused = (await wrong.send('https://receiver.test/').catch((error: unknown) => error)) as ProxyFailedError;
    expect(refused).toMatchObject({ name: 'ProxyFailedError', reason: 'unauthenticated' });
    expect(inspect(refused)).not.toMatch(/wr0ng|herald:|Basic|aGVy/);
    expect(wrong.events).toEqual(['unauthenticated', 'shut']);
    expect(proxy.asked).toHaveLength(1);
  });

  test.each<[string, ProxyAnswer, string]>([
    ['a 403', say('HTTP/1.1 403 Forbidden\r\n\r\n'), 'refused'],
    ['a 405 with a body', say('HTTP/1.1 405 No\r\ncontent-length: 5\r\n\r\nhello'), 'refused'],
    ['a 500', say('HTTP/1.1 500 Oops\r\n\r\n'), 'refused'],
    ['a redirect', say('HTTP/1.1 302 Found\r\nlocation: http://10.0.0.1/\r\n\r\n'), 'refused'],
    ['an informational answer', say('HTTP/1.1 100 Continue\r\n\r\n'), 'refused'],
    ['garbage', say('\u0016\u0003\u0001garbage\r\n\r\n'), 'malformed_answer'],
    ['64 KiB of headers', say(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(65_536)}\r\n\r\n`), 'malformed_answer'],
    [
      'two lengths',
      say('HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n'),
      'malformed_answer',
    ],
    ['a closed connection', (socket) => socket.end(), 'closed'],
    ['half an answer', (socket) => socket.end('HTTP/1.1 200 OK\r\nx:'), 'closed'],
    ['a reset', (socket) => socket.destroy(), 'closed'],
  ])('%s instead of a tunnel is the fault of the proxy', async (_what, answer, reason) => {
    const proxy = await startProxyTo(0, { ...withTls(), answer: () => answer });
    const { send, events } = start({ url: proxy.url });
    await expect(send('https://receiver.test/')).rejects.toMatchObject({ name: 'ProxyFailedError', reason });
    expect(events).toEqual([reason]);
    await waitFor('the connection to be closed', () => proxy.open.size === 0);
  });

  test.each([
    [502, 'connection_failed'],
    [503, 'connection_failed'],
    [504, 'host_unreachable'],
  ])('a %i says that the destination is away: the fault of the receiver', async (status, reason) => {
    const proxy = await startProxyTo(0, { ...withTls(), answer: () => say(`HTTP/1.1 ${status} Away\r\n\r\n`) });
    const { send, events } = start({ url: proxy.url });
    for (let i = 0; i < 12; i++) expect(await send('https://receiver.test/')).toEqual(unreachable(reason));
    expect(events).toEqual([]);
    await waitFor('the connections to be closed', () => proxy.open.size === 0);
  });
});

describe('nothing forbidden is asked for', () => {
  test.each([
    ['https://127.0.0.1/'],
    ['https://[::1]/'],
    ['https://10.0.0.1/'],
    ['https://169.254.169.254/latest/meta-data/'],
    ['https://[::ffff:10.0.0.1]/'],
    ['https://[64:ff9b::7f00:1]/'],
    ['https://0.0.0.0/'],
    [`https://${PUBLIC}:22/`],
    [`https://${PUBLIC}:25/`],
    [`http://${PUBLIC}/`],
    [`https://user:password@${PUBLIC}/`],
  ])('%s', async (url) => {
    const proxy = await startProxyTo(0);
    const { send } = start({ url: proxy.url });
    expect(await send(url)).toEqual({ kind: 'blocked' });
    expect(proxy.requests).toEqual([]);
  });

  test.each([[['10.0.0.1']], [[PUBLIC, '10.0.0.1']], [[PUBLIC, 'fd00::1']], [['::ffff:127.0.0.1']], [['0.0.0.0']]])(
    'a name with %j',
    async (addresses) => {
      const proxy = await startProxyTo(0);
      const { send } = start({ url: proxy.url, lookup: resolvingTo(...addresses) });
      expect(await send('https://receiver.test/')).toEqual({ kind: 'blocked' });
      expect(proxy.requests).toEqual([]);
    },
  );

  test('the proxy itself', async () => {
    const proxy = await startProxyTo(0);
    const { send } = start({ url: proxy.url });
    expect(await send(`https://127.0.0.1:${proxy.port}/`)).toEqual({ kind: 'blocked' });
    expect(proxy.open.size).toBe(0);
  });

  test('a name whose address changes after the check: the name is never told', async () => {
    const receiver = await startReceiver();
    const proxy = await startProxyTo(receiver.port);
    const answers = [[PUBLIC], ['127.0.0.1']];
    const lookup: Lookup = (host) => resolvingTo(...(answers.shift() ?? []))(host);
    const { send, agent } = start({ url: proxy.url, lookup });
    expect(await send('https://receiver.test/')).toEqual(delivered);
    agent.dropIdle({ host: 'receiver.test', port: 443 });
    expect(await send('https://receiver.test/')).toEqual({ kind: 'blocked' });
    expect(proxy.asked).toEqual([`${PUBLIC}:443`]);
    expect(JSON.stringify(proxy.requests)).not.toContain('receiver.test');
  });

  test('a URL can add nothing to the request to the proxy', async () => {
    const receiver = await startReceiver();
    const proxy = await startProxyTo(receiver.port);
    const { send } = start({ url: proxy.url });
    await send('https://receiver.test/%0d%0aX-Injected:%20yes%0d%0a?a=\r\nProxy-Authorization: x#\r\n');
    expect(proxy.requests).toEqual([
      { method: 'CONNECT', url: `${PUBLIC}:443`, rawHeaders: ['host', `${PUBLIC}:443`] },
    ]);
  });
});

describe('a name with several addresses', () => {
  test('is asked for one after the other, the families in turn, until one is reached', async () => {
    const receiver = await startReceiver();
    const proxy = await startProxyTo(receiver.port);
    const refused: ProxyAnswer[] = [say('HTTP/1.1 502 Bad\r\n\r\n'), say('HTTP/1.1 403 No\r\n\r\n'), 'tunnel'];
    proxy.answer = () => refused.shift() ?? 'tunnel';
    const { send, events } = start({ url: proxy.url, lookup: resolvingTo(PUBLIC, OTHER_PUBLIC, PUBLIC_V6) });
    expect(await send('https://receiver.test/')).toEqual(delivered);
    expect(proxy.asked).toEqual([`${PUBLIC}:443`, `[${PUBLIC_V6}]:443`, `${OTHER_PUBLIC}:443`]);
    expect(events).toEqual([]);
  });

  test('is not waited for at an address at which the proxy is silent', async () => {
    const receiver = await startReceiver();
    const proxy = await startProxyTo(receiver.port);
    proxy.answer = (authority) => (authority.startsWith(PUBLIC) ? () => undefined : 'tunnel');
    const { send, events } = start({ url: proxy.url, lookup: resolvingTo(PUBLIC, OTHER_PUBLIC) });
    expect(await send('https://receiver.test/')).toEqual(delivered);
    expect(proxy.asked).toEqual([`${PUBLIC}:443`, `${OTHER_PUBLIC}:443`]);
    expect(events).toEqual([]);
  });

  test('has the outcome of the last one', async () => {
    const proxy = await startProxyTo(0, { answer: () => say('HTTP/1.1 504 Late\r\n\r\n') });
    const { send } = start({ url: proxy.url, lookup: resolvingTo(PUBLIC, OTHER_PUBLIC) });
    expect(await send('https://receiver.test/')).toEqual(unreachable('host_unreachable'));
    expect(proxy.asked).toHaveLength(2);
  });

  test('is tried no further without the right credentials', async () => {
    const proxy = await startProxyTo(0, { login: 'a:b' });
    const { send } = start({ url: proxy.url.replace('a:b', 'a:c'), lookup: resolvingTo(PUBLIC, OTHER_PUBLIC) });
    await expect(send('https://receiver.test/')).rejects.toMatchObject({ reason: 'unauthenticated' });
    expect(proxy.requests).toHaveLength(1);
  });
});

describe('the deadline', () => {
  test('is a fault of the destination while the proxy answers others', async () => {
    const proxy = await startProxyTo(0, { answer: () => () => undefined });
    const { send, events } = start({ url: proxy.url, deadlineMs: 1_500 });
    expect(await send('https://receiver.test/')).toEqual({ kind: 'timed_out', phase: 'connect' });
    // Nobody else asked for a tunnel, so it was asked for itself.
    expect(proxy.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([`CONNECT ${PUBLIC}:443`, 'OPTIONS *']);
    expect(events).toEqual([]);
    await waitFor('the connection to be closed', () => proxy.open.size === 0);
  });

  test('is a fault of the destination when another tunnel was made meanwhile, and nothing more is asked', async () => {
    const receiver = await startReceiver();
    const proxy = await startProxyTo(receiver.port);
    proxy.isTalking = false;
    proxy.answer = (authority) => (authority.startsWith(PUBLIC) ? () => undefined : 'tunnel');
    const { send } = start({ url: proxy.url, deadlineMs: 1_200 });
    const silent = send(`https://${PUBLIC}/`);
    await waitFor('the first question', () => proxy.asked.length === 1);
    await send(`https://${OTHER_PUBLIC}/`);
    expect(await silent).toEqual({ kind: 'timed_out', phase: 'connect' });
    expect(proxy.requests.map(({ method }) => method)).toEqual(['CONNECT', 'CONNECT']);
  });

  test.each<[string, ProxyAnswer]>([
    ['says nothing to anybody', () => undefined],
    [
      'trickles its answer',
      (socket) => {
        const timer = setInterval(() => socket.write('H'), 50);
        socket.once('close', () => {
          clearInterval(timer);
        });
        socket.write('HTTP/1.1 200 OK\r\nx: ');
      },
    ],
  ])('is a fault of a proxy that %s', async (_what, answer) => {
    const proxy = await startProxyTo(0, { answer: () => answer });
    proxy.isTalking = false;
    const { send, events, sender, proxy: own } = start({ url: proxy.url, deadlineMs: 700 });
    await expect(send('https://receiver.test/')).rejects.toMatchObject({ reason: 'timed_out' });
    expect(events).toEqual(['timed_out', 'shut']);
    sender.close();
    own.close();
    // Sooner than the look at the proxy would end by itself.
    await waitFor('the connections to be closed', () => proxy.open.size === 0, 2_000);
  });

  test('is a fault of a proxy that begins no TLS', async () => {
    const silent = cleanUp.use(await startPlain(() => undefined));
    const { send, events } = start({ url: `https://127.0.0.1:${silent.port}`, deadlineMs: 300 });
    await expect(send('https://receiver.test/')).rejects.toMatchObject({ reason: 'timed_out' });
    expect(events).toEqual(['timed_out', 'shut']);
  });

  test('covers the TLS of the destination, and then its answer', async () => {
    const silent = cleanUp.use(await startPlain(() => undefined));
    const toSilent = await startProxyTo(silent.port);
    const { send } = start({ url: toSilent.url, deadlineMs: 300 });
    expect(await send('https://receiver.test/')).toEqual({ kind: 'timed_out', phase: 'tls' });

    const slow = cleanUp.use(await startHttps(credentials, () => undefined));
    const toSlow = await startProxyTo(slow.port);
    const other = start({ url: toSlow.url, deadlineMs: 1_000 });
    expect(await other.send('https://receiver.test/')).toEqual({ kind: 'timed_out', phase: 'response' });
    await slow.allClosed();
    await waitFor('the tunnel to be closed', () => toSlow.open.size === 0);
  });

  test('covers the look-up of the destination, and the proxy is not asked', async () => {
    const proxy = await startProxyTo(0);
    const { send } = start({ url: proxy.url, deadlineMs: 100, lookup: () => [new Promise<never>(() => undefined)] });
    expect(await send('https://receiver.test/')).toEqual({ kind: 'timed_out', phase: 'lookup' });
    expect(proxy.open.size).toBe(0);
  });
});

test('a stop cuts off a request that waits for its tunnel', async () => {
  const proxy = await startProxyTo(0, { answer: () => () => undefined });
  // The deadline, at which the question ends in any case, is far away.
  const { send, sender } = start({ url: proxy.url, deadlineMs: 60_000 });
  const stop = new AbortController();
  const stopped = send('https://receiver.test/', stop.signal);
  await waitFor('the question', () => proxy.asked.length === 1);
  stop.abort();
  expect(await stopped).toEqual({ kind: 'aborted' });
  await waitFor('the connection to be closed', () => proxy.open.size === 0);
  const closed = send('https://receiver.test/');
  await waitFor('the question', () => proxy.asked.length === 2);
  sender.close();
  expect(await closed).toEqual({ kind: 'aborted' });
  await waitFor('the connection to be closed', () => proxy.open.size === 0);
});

describe('a proxy that is away', () => {
  test('fails what is sent, then everything at once, and works again soon after it is back', async () => {
    const receiver = await startReceiver();
    const proxy = await startProxyTo(receiver.port);
    const { send, events, proxy: own } = start({ url: proxy.url });
    expect(await send('https://receiver.test/')).toEqual(delivered);
    await proxy.stop();
    await expect(send('https://receiver.test/')).rejects.toMatchObject({ reason: 'connect_failed' });
    expect(events).toEqual(['connect_failed', 'shut']);
    expect([own.isOpen(), own.isDoubted(), own.failure()?.message]).toEqual([
      false,
      true,
      'the proxy of EGRESS_PROXY_URL failed: connect_failed (ECONNREFUSED)',
    ]);
    await expect(send('https://receiver.test/')).rejects.toBe(own.failure());
    expect(events).toHaveLength(2);
    await waitFor('a look at it', () => events.length > 2);
    expect([events[2], own.isOpen()]).toEqual(['connect_failed', false]);
    await proxy.start();
    await waitFor('the gate to open', own.isOpen);
    expect(own.failure()).toBeUndefined();
    expect(events.slice(-2)).toEqual(['recovered', 'open']);
    expect(await send('https://receiver.test/')).toEqual(delivered);
  });

  test('because its name has no address', async () => {
    const { send, events } = start({ url: 'http://no-such-proxy.invalid:3128' });
    await expect(send('https://receiver.test/')).rejects.toMatchObject({ reason: 'lookup_failed' });
    expect(events).toEqual(['lookup_failed', 'shut']);
  });

  test.each([
    ['nobody trusts', (): string | undefined => undefined, ['127.0.0.1']],
    ['names another host', (): string | undefined => authority.certPem, ['elsewhere.test']],
  ])('because its certificate is one that %s', async (_what, caPem, hosts) => {
    const proxy = await startProxyTo(0, { credentials: await issue(hosts) });
    const { send, events } = start({ url: proxy.url, caPem: caPem() });
    await expect(send('https://receiver.test/')).rejects.toMatchObject({ reason: 'tls_failed' });
    expect(events).toEqual(['tls_failed', 'shut']);
    expect(proxy.requests).toEqual([]);
  });

  test('and the environment does not switch its verification off', async () => {
    const proxy = await startProxyTo(0, { credentials });
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      const { send } = start({ url: proxy.url, caPem: undefined });
      await expect(send('https://receiver.test/')).rejects.toMatchObject({ reason: 'tls_failed' });
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
  });

  test('because it speaks no TLS, or nothing listens', async () => {
    const plain = await startProxyTo(0);
    const { send } = start({ url: plain.url.replace('http:', 'https:') });
    await expect(send('https://receiver.test/')).rejects.toMatchObject({ reason: 'tls_failed' });
    const other = start({ url: `http://127.0.0.1:${await freePort()}` });
    await expect(other.send('https://receiver.test/')).rejects.toMatchObject({ reason: 'connect_failed' });
  });
});

test('a tunnel that was kept and answers tells that the proxy works for others than those that it refuses', async () => {
  const receiver = await startReceiver();
  const proxy = await startProxyTo(receiver.port);
  proxy.answer = (authority) =>
    authority.endsWith(':443') ? 'tunnel' : say('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
  const { send, proxy: own, events } = start({ url: proxy.url });
  expect(await send('https://receiver.test/')).toEqual(delivered);
  for (let port = 8_000; port < 8_012; port++) {
    await expect(send(`https://receiver.test:${port}/`)).rejects.toMatchObject({ reason: 'refused' });
  }
  expect([own.isDoubted(), own.failure()?.reason]).toEqual([true, 'refused']);
  expect(await send('https://receiver.test/')).toEqual(delivered);
  expect([own.isOpen(), own.isDoubted(), own.failure()]).toEqual([true, false, undefined]);
  expect(proxy.asked.filter((authority) => authority.endsWith(':443'))).toHaveLength(1);
  expect(events.at(-1)).toBe('recovered');
});

test('a tunnel that ends during a request is the fault of the receiver, which may have closed it', async () => {
  const receiver = cleanUp.use(await startHttps(credentials, (request) => request.socket.destroy()));
  const proxy = await startProxyTo(receiver.port);
  const { send, events } = start({ url: proxy.url });
  expect(await send('https://receiver.test/')).toEqual(unreachable('connection_reset'));
  expect(events).toEqual([]);
});

test('refused addresses and failed tunnels leave nothing behind', async () => {
  const proxy = await startProxyTo(0, { answer: () => say('HTTP/1.1 502 Bad\r\n\r\n') });
  const { send, agent } = start({ url: proxy.url });
  for (const host of ['10.0.0.1', PUBLIC, 'receiver.test']) await send(`https://${host}/`);
  expect([Object.keys(agent.sockets), Object.keys(agent.freeSockets)]).toEqual([[], []]);
});
