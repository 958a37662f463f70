import { createCertificateAuthority, freePort, startHttps, waitFor, type CertificateAuthority } from '@herald/test-kit';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createEgressGate, createEgressSender, createRouteFinder, type EgressConfig } from './create-egress.ts';
import type { ResolverState } from './create-lookup.ts';
import { EgressFailedError, type EgressFailure } from './egress-errors.ts';

let authority: CertificateAuthority;
beforeAll(async () => {
  authority = await createCertificateAuthority();
});

let cleanUp: AsyncDisposableStack;
beforeEach(() => {
  cleanUp = new AsyncDisposableStack();
});
afterEach(() => cleanUp.disposeAsync());

function start(over: Partial<EgressConfig> = {}) {
  const events: string[] = [];
  const sender = createEgressSender({
    allowCidrs: ['127.0.0.0/8'],
    caPem: authority.certPem,
    names: {},
    deadlineMs: 10_000,
    report: { failed: ({ reason }) => events.push(reason), recovered: () => events.push('recovered') },
    ...over,
  });
  cleanUp.defer(sender.close);
  sender.gate.watch((isOpen) => events.push(isOpen ? 'open' : 'shut'));
  const send = async (url: string) => (await sender.send({ url, headers: {}, body: Buffer.from('{}') })).outcome;
  return { sender, send, events };
}

/**
 * Says of every name, the root too, that it is 127.0.0.1, or has no such record.
 * @param dropped names to whose questions it is silent; '' is the root
 */
async function startNameServer(port: number, dropped: readonly string[] = []) {
  const socket = createSocket('udp4');
  socket.on('message', (query, peer) => {
    const name = query
      .subarray(12, query.indexOf(0, 12))
      .toString('latin1')
      .replaceAll(/\p{Cc}/gu, '.')
      .slice(1);
    if (dropped.includes(name)) return;
    const isAddress = query.readUInt16BE(query.indexOf(0, 12) + 1) === 1;
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(isAddress ? 1 : 0, 6);
    header.writeUInt32BE(0, 8);
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
    socket.send(Buffer.concat([header, question, ...(isAddress ? [record] : [])]), peer.port, peer.address);
  });
  socket.bind(port, '127.0.0.1');
  await once(socket, 'listening');
  cleanUp.defer(() => {
    socket.close();
  });
}

test('while no resolver answers nothing is tried, and it goes on by itself', async () => {
  const { certPem, keyPem } = await authority.issueCertificate({ hosts: ['receiver.test'] });
  const receiver = cleanUp.use(
    await startHttps({ cert: certPem, key: keyPem }, (request, response) =>
      request.resume().on('end', () => response.end()),
    ),
  );
  const dnsPort = await freePort();
  const { sender, send, events } = start({ names: { servers: [`127.0.0.1:${dnsPort}`] } });
  const url = `https://receiver.test:${receiver.port}/`;
  const away = { name: 'EgressFailedError', reason: 'resolver_away' };
  await expect(send(url)).rejects.toMatchObject(away);
  expect(events).toEqual(['resolver_away', 'shut']);
  // Nobody asks again, and nothing more is told.
  await expect(send(url)).rejects.toBe(sender.gate.failure());
  expect(events).toHaveLength(2);
  await startNameServer(dnsPort);
  await waitFor('a delivery to get out', () => send(url).catch(() => ({ kind: 'failed' as const })), {
    until: (outcome) => outcome.kind === 'responded',
  });
  expect([sender.gate.isOpen(), sender.gate.failure(), events.includes('recovered')]).toEqual([true, undefined, true]);
});

test('a name whose servers are silent shuts nothing where the resolver drops the question for the root', async () => {
  const dnsPort = await freePort();
  await startNameServer(dnsPort, ['', 'dead.test']);
  const { send, sender, events } = start({ names: { servers: [`127.0.0.1:${dnsPort}`] }, deadlineMs: 1_500 });
  const closed = await freePort();
  await send(`https://receiver.test:${closed}/`);
  expect(await send(`https://dead.test:${closed}/`)).toEqual({ kind: 'timed_out', phase: 'lookup' });
  expect([sender.gate.isOpen(), events]).toEqual([true, []]);
});

test('a name whose servers are silent and that comes first shuts only until others are tried', async () => {
  const dnsPort = await freePort();
  await startNameServer(dnsPort, ['', 'dead.test']);
  const { send, sender } = start({ names: { servers: [`127.0.0.1:${dnsPort}`] }, deadlineMs: 1_500 });
  const closed = await freePort();
  await expect(send(`https://dead.test:${closed}/`)).rejects.toMatchObject({ reason: 'resolver_away' });
  expect(sender.gate.isOpen()).toBe(false);
  await waitFor('the gate to open', () => sender.gate.isOpen(), { deadlineMs: 20_000 });
  expect(await send(`https://receiver.test:${closed}/`)).toMatchObject({ reason: 'connection_refused' });
  expect(await send(`https://dead.test:${closed}/`)).toEqual({ kind: 'timed_out', phase: 'lookup' });
  expect(sender.gate.isOpen()).toBe(true);
}, 30_000);

test('a name without an address is the fault of the name, and shuts nothing', async () => {
  const dnsPort = await freePort();
  await startNameServer(dnsPort);
  const { send, sender, events } = start({ names: { servers: [`127.0.0.1:${dnsPort}`] } });
  const closed = await freePort();
  expect(await send(`https://receiver.test:${closed}/`)).toEqual({ kind: 'unreachable', reason: 'connection_refused' });
  expect([sender.gate.isOpen(), events]).toEqual([true, []]);
});

test('a route leads somewhere when one leads into an opened range', async () => {
  expect(await createRouteFinder(['127.0.0.0/8'])()).toBe(true);
});

describe('a look at what failed', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  test('keeps the gate shut while no certificate is trusted', async () => {
    const gate = createEgressGate({
      lookup: { look: () => Promise.resolve('serves') },
      findRoute: () => Promise.resolve(true),
    });
    gate.failed(new EgressFailedError('no_authorities'));
    await jest.advanceTimersByTimeAsync(20_000);
    expect([gate.isOpen(), gate.failure()?.reason]).toEqual([false, 'no_authorities']);
    gate.close();
  });

  test.each(['resolver_away', 'resolver_refuses', 'no_route', 'no_descriptors'] as const)(
    'of the kind %s opens the gate when it works again',
    async (reason) => {
      const gate = createEgressGate({
        lookup: { look: () => Promise.resolve('serves') },
        findRoute: () => Promise.resolve(true),
      });
      const opened = Promise.withResolvers<boolean>();
      gate.watch((isOpen) => {
        if (isOpen) opened.resolve(isOpen);
      });
      gate.failed(new EgressFailedError(reason));
      await jest.advanceTimersByTimeAsync(300);
      expect(await opened.promise).toBe(true);
      expect(gate.failure()).toBeUndefined();
      gate.close();
    },
  );

  test.each<[string, EgressFailure, ResolverState, boolean]>([
    ['the resolver still refuses', 'resolver_refuses', 'refuses', true],
    ['the resolver that refused is silent', 'resolver_refuses', 'silent', true],
    ['the resolver is silent about the root, as some always are', 'resolver_away', 'silent', true],
    ['no route leads to the public Internet, and one may lead to a receiver', 'no_route', 'serves', false],
  ])('lets deliveries find out, but not many, when %s', async (_when, reason, state, hasRoute) => {
    const gate = createEgressGate({
      lookup: { look: () => Promise.resolve(state) },
      findRoute: () => Promise.resolve(hasRoute),
    });
    const shutFor: number[] = [];
    for (let round = 0; round < 7; round++) {
      gate.failed(new EgressFailedError(reason));
      const shutAt = Date.now();
      while (!gate.isOpen() && Date.now() - shutAt < 60_000) await jest.advanceTimersByTimeAsync(50);
      shutFor.push(Date.now() - shutAt);
      expect(gate.failure()?.reason).toBe(reason);
    }
    expect(shutFor).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
    gate.close();
  });
});
