import {
  createCertificateAuthority,
  type CertificateAuthority,
  startHttps,
  startPlain,
  type Credentials,
  type LoopbackServer,
} from '@herald/test-kit';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { connect } from 'node:net';
import { createAddressPolicy } from './address-policy.ts';
import { createLookup } from './create-lookup.ts';
import type { Lookup } from './dial.ts';
import { GuardedAgent, type GuardedAgentOptions } from './guarded-agent.ts';

const loopback = createAddressPolicy({ allowCidrs: ['127.0.0.0/8', '::1/128'] });
const publicOnly = createAddressPolicy({ allowCidrs: [] });

async function issue(hosts: readonly string[], by = authority): Promise<Credentials> {
  const { certPem, keyPem } = await by.issueCertificate({ hosts });
  return { cert: certPem, key: keyPem };
}

let authority: CertificateAuthority;
let credentials: Credentials;
let agents: GuardedAgent[] = [];

beforeAll(async () => {
  authority = await createCertificateAuthority();
  credentials = await issue(['127.0.0.1', 'receiver.test']);
});

afterEach(() => {
  for (const agent of agents) agent.destroy();
  agents = [];
});

function createAgent(options: Partial<GuardedAgentOptions> = {}): GuardedAgent {
  const agent = new GuardedAgent({
    policy: loopback,
    lookup: createLookup({ bySystem: true }),
    caPem: authority.certPem,
    ...options,
  });
  agents.push(agent);
  return agent;
}

/** The status, once the connection is free for the next request. */
async function get(agent: GuardedAgent, options: RequestOptions): Promise<number | undefined> {
  const request = httpsRequest({ ...options, agent });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  await once(request, 'close');
  return response.statusCode;
}

function startReceiver(): Promise<LoopbackServer> {
  return startHttps(credentials, (_request, response) => response.end());
}

function answering(...answers: string[][]): Lookup & { calls: number } {
  const lookup = () => {
    const addresses = answers[Math.min(lookup.calls, answers.length - 1)] ?? [];
    lookup.calls += 1;
    return [Promise.resolve(addresses)];
  };
  lookup.calls = 0;
  return lookup;
}

describe('an address that is not allowed', () => {
  test.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '１２７.０.０.１',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::7f00:1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '169.254.169.254',
    '0.0.0.0',
    '[fe80::1]',
    'localhost',
  ])('is not dialled when a URL says %s', async (host) => {
    await using receiver = await startPlain(() => undefined);
    const { hostname } = new URL(`https://${host}/`);
    const request = get(createAgent({ policy: publicOnly }), {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: receiver.port,
    });
    await expect(request).rejects.toMatchObject({ name: 'BlockedAddressError', code: 'ERR_ADDRESS_BLOCKED' });
    expect(receiver.connections).toEqual([]);
  });

  test.each(['127.1', '2130706433', '0x7f.1', '0177.0.0.1'])(
    'is not dialled when a caller leaves the host %s to the system to read',
    async (host) => {
      await using receiver = await startPlain(() => undefined);
      const request = get(createAgent({ policy: publicOnly }), { host, port: receiver.port });
      await expect(request).rejects.toThrow(/is not allowed|has the address 127.0.0.1|ENOTFOUND|EAI_AGAIN/);
      expect(receiver.connections).toEqual([]);
    },
  );

  test.each([
    { position: 'first', addresses: ['10.0.0.1', '127.0.0.1'] },
    { position: 'last', addresses: ['127.0.0.1', '::1', '10.0.0.1'] },
    { position: 'hidden in IPv6', addresses: ['127.0.0.1', '::ffff:10.0.0.1'] },
  ])('spoils a name whose other addresses are allowed ($position)', async ({ addresses }) => {
    await using receiver = await startReceiver();
    const request = get(createAgent({ lookup: answering(addresses) }), { host: 'receiver.test', port: receiver.port });
    await expect(request).rejects.toMatchObject({ code: 'ERR_ADDRESS_BLOCKED' });
    expect(receiver.connections).toEqual([]);
  });
});

test.each([1, 22, 25, 6667, 10_080])('port %i is not dialled at an address that is allowed', async (port) => {
  await expect(get(createAgent(), { host: '127.0.0.1', port })).rejects.toThrow(`port ${port} is not allowed`);
});

test('a connection is used again by requests to its own host and port alone', async () => {
  await using receiver = await startReceiver();
  const lookup = answering(['127.0.0.1']);
  const agent = createAgent({ lookup });
  expect(await get(agent, { host: 'receiver.test', port: receiver.port })).toBe(200);
  expect(await get(agent, { host: '127.0.0.1', port: receiver.port })).toBe(200);
  const stranger = get(agent, { host: 'other.test', port: receiver.port });
  await expect(stranger).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  expect(receiver.connections).toHaveLength(3);
  expect(await get(agent, { host: 'receiver.test', port: receiver.port })).toBe(200);
  expect(receiver.connections).toHaveLength(3);
});

test('refused addresses leave nothing behind', async () => {
  const agent = createAgent({ policy: publicOnly });
  for (const host of ['10.0.0.1', '10.0.0.2']) await expect(get(agent, { host })).rejects.toThrow(host);
  expect(Object.keys(agent.sockets)).toEqual([]);
});

test('a name is looked up once per connection, and what was checked is what is dialled', async () => {
  await using receiver = await startReceiver();
  const lookup = answering(['127.0.0.1'], ['10.0.0.1']);
  const agent = createAgent({ lookup });
  const target = { host: 'receiver.test', port: receiver.port };
  expect(await get(agent, target)).toBe(200);
  expect(await get(agent, target)).toBe(200);
  expect(lookup.calls).toBe(1);
  expect(receiver.connections).toHaveLength(1);
  agent.dropIdle(target);
  await expect(get(agent, target)).rejects.toMatchObject({ code: 'ERR_ADDRESS_BLOCKED' });
  expect(lookup.calls).toBe(2);
  expect(receiver.connections).toHaveLength(1);
});

test('a peer other than the address that was dialled is dropped before a byte is sent', async () => {
  const received: Buffer[] = [];
  await using receiver = await startPlain((socket) => socket.on('data', (chunk) => received.push(chunk)));
  // Whoever dials 0.0.0.0 reaches the machine itself, as 127.0.0.1.
  const agent = createAgent({ policy: createAddressPolicy({ allowCidrs: ['0.0.0.0/8'] }) });
  await expect(get(agent, { host: '0.0.0.0', port: receiver.port })).rejects.toThrow('127.0.0.1 answered');
  await receiver.allClosed();
  expect(received).toEqual([]);
});

describe('no option of a request', () => {
  test('leads to a socket path', async () => {
    const request = get(createAgent(), { socketPath: '/var/run/docker.sock' });
    await expect(request).rejects.toMatchObject({ code: 'ERR_ADDRESS_BLOCKED' });
  });

  test.each<[string, RequestOptions & { pskCallback?: () => null }]>([
    ['rejectUnauthorized', { rejectUnauthorized: false }],
    ['checkServerIdentity', { checkServerIdentity: () => undefined, servername: 'receiver.test' }],
    ['an authority', {}],
  ])('switches verification off (%s)', async (_what, options) => {
    const stranger = await createCertificateAuthority();
    await using receiver = await startHttps(await issue(['127.0.0.1'], stranger), (_request, response) =>
      response.end(),
    );
    const request = get(createAgent(), { host: '127.0.0.1', port: receiver.port, ca: stranger.certPem, ...options });
    await expect(request).rejects.toMatchObject({ code: expect.stringMatching(/UNABLE|SIGN/) as string });
  });

  test('brings a socket or a look-up of its own', async () => {
    await using receiver = await startReceiver();
    const socket = connect(receiver.port, '127.0.0.1');
    const own = { socket, lookup: () => undefined } as RequestOptions;
    const agent = createAgent({ lookup: answering(['10.0.0.1']) });
    const request = get(agent, { ...own, host: 'receiver.test', port: receiver.port });
    await expect(request).rejects.toThrow('receiver.test has the address 10.0.0.1');
    socket.destroy();
  });

  test('lets a Host header choose which certificate is right', async () => {
    await using receiver = await startHttps(await issue(['evil.test']), (_request, response) => response.end());
    const agent = createAgent({ lookup: answering(['127.0.0.1']) });
    const request = get(agent, { host: 'receiver.test', port: receiver.port, headers: { host: 'evil.test' } });
    await expect(request).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });
});

test('the environment does not switch verification off', async () => {
  await using receiver = await startReceiver();
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  try {
    await expect(
      get(createAgent({ caPem: undefined }), { host: '127.0.0.1', port: receiver.port }),
    ).rejects.toMatchObject({
      code: expect.stringMatching(/UNABLE|SIGN/) as string,
    });
  } finally {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  }
});

test('an additional authority that is no certificate is refused at once', () => {
  expect(() => createAgent({ caPem: '-----BEGIN NOTHING-----' })).toThrow('not a PEM certificate');
});

describe('unused connections', () => {
  async function useAtOnce(agent: GuardedAgent, receivers: LoopbackServer[]): Promise<void> {
    await Promise.all(receivers.map(({ port }) => get(agent, { host: '127.0.0.1', port })));
  }

  test('are kept, up to a number per origin', async () => {
    await using receiver = await startReceiver();
    const agent = createAgent({ maxIdlePerOrigin: 2 });
    await useAtOnce(agent, [receiver, receiver, receiver, receiver]);
    expect(receiver.connections).toHaveLength(4);
    expect(agent.idleCount).toBe(2);
  });

  test('serve the next wave of as many as one destination may have in flight', async () => {
    await using receiver = await startReceiver();
    const agent = createAgent({});
    const wave = new Array<LoopbackServer>(50).fill(receiver);
    await useAtOnce(agent, wave);
    await useAtOnce(agent, wave);
    expect(receiver.connections).toHaveLength(50);
  });

  test('are kept, up to a number in all, and the longest unused goes first', async () => {
    await using a = await startReceiver();
    await using b = await startReceiver();
    await using c = await startReceiver();
    const agent = createAgent({ maxIdle: 2 });
    for (const receiver of [a, b, a, c]) await useAtOnce(agent, [receiver]);
    await b.allClosed();
    expect(agent.idleCount).toBe(2);
    for (const receiver of [a, c]) await useAtOnce(agent, [receiver]);
    expect([a, b, c].map(({ connections }) => connections.length)).toEqual([1, 1, 1]);
  });

  test('are closed after a while', async () => {
    await using receiver = await startReceiver();
    const agent = createAgent({ idleMs: 50 });
    await useAtOnce(agent, [receiver]);
    expect(agent.idleCount).toBe(1);
    await allClosed(agent);
    expect(agent.idleCount).toBe(0);
  });

  test('are forgotten when the server closes them', async () => {
    await using receiver = await startReceiver();
    const agent = createAgent();
    await useAtOnce(agent, [receiver, receiver]);
    expect(agent.idleCount).toBe(2);
    for (const connection of receiver.connections) connection.destroy();
    await allClosed(agent);
    expect(agent.idleCount).toBe(0);
  });

  test('serve a number of requests, and then no more', async () => {
    await using receiver = await startReceiver();
    const agent = createAgent({ maxRequests: 3 });
    for (let request = 0; request < 7; request++) await useAtOnce(agent, [receiver]);
    expect(receiver.connections).toHaveLength(3);
  });

  test('get no older than they may, so that a name that moved is followed while its old address answers', async () => {
    await using former = await startReceiver();
    const lookup = answering(['127.0.0.1'], ['127.0.0.2']);
    const agent = createAgent({ lookup, maxAgeMs: 250, idleMs: 50 });
    const target = { host: 'receiver.test', port: former.port };
    const until = performance.now() + 200;
    while (performance.now() < until) expect(await get(agent, target)).toBe(200);
    expect(former.connections).toHaveLength(1);
    // Nothing listens at the new address.
    const followed = async () => {
      for (;;) await get(agent, target);
    };
    await expect(followed()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  async function allClosed(agent: GuardedAgent): Promise<void> {
    const sockets = Object.values(agent.freeSockets).flatMap((kept) => kept ?? []);
    await Promise.all(sockets.map((socket) => once(socket, 'close')));
  }
});
