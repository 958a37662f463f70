import {
  createCertificateAuthority,
  freePort,
  startHttps,
  startProcess,
  type CertificateAuthority,
} from '@herald/test-kit';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { createAddressPolicy } from './address-policy.ts';
import { createLookup } from './create-lookup.ts';
import { createSender } from './create-sender.ts';
import { GuardedAgent } from './guarded-agent.ts';

let authority: CertificateAuthority;
let folder: string;
beforeAll(async () => {
  [authority, folder] = [await createCertificateAuthority(), await mkdtemp(join(tmpdir(), 'herald-sessions-'))];
});
afterAll(() => rm(folder, { recursive: true }));

async function issue(...hosts: string[]) {
  const { certPem: cert, keyPem: key } = await authority.issueCertificate({ hosts: ['127.0.0.1', ...hosts] });
  return { cert, key };
}

function start() {
  const policy = createAddressPolicy({ allowCidrs: ['127.0.0.0/8'] });
  const agent = new GuardedAgent({ policy, lookup: createLookup({ bySystem: true }), caPem: authority.certPem });
  const sender = createSender({ agent, deadlineMs: 20_000 });
  const send = async (url: string) => (await sender.send({ url, headers: {}, body: Buffer.from('{}') })).outcome;
  return { agent, send, [Symbol.dispose]: sender.close };
}

test('a session is kept, and used by the next connection', async () => {
  const used: boolean[] = [];
  await using receiver = await startHttps(await issue(), (request, response) => {
    used.push((request.socket as TLSSocket).isSessionReused());
    response.writeHead(204, { connection: 'close' }).end();
  });
  using herald = start();
  for (let requests = 0; requests < 2; requests++) {
    expect(await herald.send(receiver.url)).toMatchObject({ kind: 'responded', status: 204 });
    await receiver.allClosed();
  }
  expect(used).toEqual([false, true]);
});

test.each([
  { what: 'one session after the other', names: 0, tickets: 1_000 },
  { what: 'what is seen by nobody, since its certificate is large', names: 900, tickets: 1_000_000 },
])('a server that gives $what is left before the deadline', async ({ names, tickets }) => {
  const { cert, key } = await issue(...Array.from({ length: names }, (_, index) => `host-${index}.receiver.test`));
  const [certFile, keyFile, port] = [join(folder, 'cert.pem'), join(folder, 'key.pem'), await freePort()];
  await Promise.all([writeFile(certFile, cert), writeFile(keyFile, key)]);
  const args = ['s_server', '-accept', `127.0.0.1:${port}`, '-www', '-cert', certFile, '-key', keyFile];
  await using server = await startProcess({
    name: 'openssl',
    command: 'openssl',
    args: [...args, '-num_tickets', `${tickets}`],
    readyWhen: (line) => line.includes('ACCEPT'),
  });
  using herald = start();
  expect(await herald.send(`https://127.0.0.1:${port}/`)).toEqual({ kind: 'unreachable', reason: 'malformed_answer' });
  expect(server.hasExited()).toBe(false);
});

describe('a connection', () => {
  /** Gives sessions to the client's end of the only connection, as its server would. */
  function give(agent: GuardedAgent, sessions: number): void {
    const [[socket] = []] = Object.values({ ...agent.freeSockets, ...agent.sockets });
    for (let given = 0; given < sessions; given++) socket?.emit('session', Buffer.alloc(100));
  }

  test.each([
    { sessions: 10, idle: 1 },
    { sessions: 100, idle: 0 },
  ])('that nobody uses and that gets $sessions sessions: $idle stay', async ({ sessions, idle }) => {
    await using receiver = await startHttps(await issue(), (_request, response) => response.end());
    using herald = start();
    await herald.send(receiver.url);
    give(herald.agent, sessions);
    if (idle === 0) await receiver.allClosed();
    expect(herald.agent.idleCount).toBe(idle);
  });

  test('that gets a hundred sessions behind the status: the status counts', async () => {
    using herald = start();
    await using receiver = await startHttps(await issue(), (_request, response) => {
      response.writeHead(202).write('once');
    });
    const sent = herald.send(receiver.url);
    const isAnswered = Promise.withResolvers<undefined>();
    herald.agent.answered = () => {
      isAnswered.resolve(undefined);
    };
    await isAnswered.promise;
    give(herald.agent, 100);
    expect(await sent).toMatchObject({ kind: 'responded', status: 202, bodyNote: 'body_too_long' });
  });
});
