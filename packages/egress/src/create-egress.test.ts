import { createCertificateAuthority, freePort, startHttps, waitFor, type CertificateAuthority } from '@herald/test-kit';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createEgressGate, createEgressSender, createRouteFinder, type EgressConfig } from './create-egress.ts';
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

/** Says of every name, the root too, that it is 127.0.0.1, or has no such record. */
async function startNameServer(port: number) {
  const socket = createSocket('udp4');
  socket.on('message', (query, peer) => {
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
  await waitFor('the gate to open', () => sender.gate.isOpen());
  expect(events.slice(-2)).toEqual(['recovered', 'open']);
  expect(await send(url)).toMatchObject({ kind: 'responded', status: 200 });
});

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
  const failures: EgressFailure[] = ['resolver_away', 'resolver_refuses', 'no_route', 'no_authorities'];
  const { jest } = import.meta;
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  test.each(failures)('of the kind %s keeps the gate shut while it fails', async (reason) => {
    let looks = 0;
    const gate = createEgressGate({
      lookup: { look: () => Promise.resolve(++looks > 0 ? 'silent' : 'serves') },
      findRoute: () => Promise.resolve(++looks === 0),
    });
    gate.failed(new EgressFailedError(reason));
    await jest.advanceTimersByTimeAsync(20_000);
    expect([gate.isOpen(), gate.failure()?.reason]).toEqual([false, reason]);
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

  test('of a resolver that still refuses lets deliveries find out, but not many', async () => {
    const gate = createEgressGate({
      lookup: { look: () => Promise.resolve('refuses') },
      findRoute: () => Promise.resolve(true),
    });
    gate.failed(new EgressFailedError('resolver_refuses'));
    await jest.advanceTimersByTimeAsync(300);
    expect([gate.isOpen(), gate.failure()?.reason]).toEqual([true, 'resolver_refuses']);
    gate.close();
  });
});
