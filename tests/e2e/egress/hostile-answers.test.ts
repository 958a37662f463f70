import { createCertificateAuthority, startTls } from '@herald/test-kit';
import type { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { createDeliveryClient, type DeliveryView } from '../../support/delivery-client.ts';
import { dumpRedis, toText } from '../../support/redis-dump.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { startRawServer } from '../../support/start-raw-server.ts';

jest.setTimeout(60_000);

const CANARY = 'canary-7c1f';
const MARKS = '\u001b]0;\u0007\u0000\u009b\u202e\u2066\u200b\u00ad\ufeff\u2028';

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ env: { RETRY_SCHEDULE: '', DELIVERY_TIMEOUT: '4s' } });
});
afterAll(() => herald[Symbol.asyncDispose]());

/** What each attempt that reached an address says of itself. */
const PROOF = { address: '127.0.0.1', keyIds: [expect.stringMatching(/^[0-9a-f]{6}$/)] };

async function deliverTo(url: string): Promise<DeliveryView> {
  const deliveries = createDeliveryClient(await herald.createWorkspace());
  const { toCallback } = await deliveries.emit({ callback: { url } });
  return await deliveries.waitUntil(toCallback, ({ status }) => status !== 'pending', 20_000);
}

/** What the delivery is told to have come to. */
async function answerWith(answer: (socket: TLSSocket) => void) {
  await using server = await startRawServer({ ca: herald.ca, answer });
  const { attempts } = await deliverTo(server.url);
  const [first] = attempts;
  if (!first) throw new Error('an attempt was made');
  const { at: _at, durationMs: _durationMs, address, keyIds, answerDigest: _digest, ...told } = first;
  expect({ address, keyIds }).toEqual(PROOF);
  return told;
}

const say = (...parts: (string | Buffer)[]) => {
  return (socket: TLSSocket) => {
    for (const part of parts) socket.write(part);
  };
};

/** Writes for as long as the other side listens. */
const pour = (head: string, drop: string) => (socket: TLSSocket) => {
  socket.write(head);
  const goOn = () => {
    if (socket.writable && socket.write(drop)) setImmediate(goOn);
  };
  socket.on('drain', goOn);
  goOn();
};

const withBody = (head: string, body: Buffer) =>
  say(`HTTP/1.1 500 No\r\n${head}content-length: ${body.length}\r\n\r\n`, body);

describe('an answer', () => {
  test.each<[string, (socket: TLSSocket) => void, object]>([
    [
      'of a compressed bomb is kept as it came, and never opened',
      withBody('content-encoding: gzip\r\n', gzipSync(Buffer.alloc(50_000_000, CANARY))),
      // oxlint-disable-next-line jest/no-standalone-expect -- a matcher, which asserts nothing by itself
      { status: 500, answer: expect.not.stringContaining(CANARY) as string, bodyNote: 'body_too_long' },
    ],
    [
      'of markup, escapes and marks is kept as it came',
      withBody('', Buffer.from(`<img src=x onerror="${CANARY}">${MARKS}`)),
      { status: 500, answer: `<img src=x onerror="${CANARY}">${MARKS}` },
    ],
    [
      'of bytes that are no text is kept as text',
      withBody('', Buffer.from([0x61, 0xff, 0xed, 0xa0, 0x80, 0xc0, 0x80, 0x62])),
      { status: 500, answer: `a${'\ufffd'.repeat(6)}b` },
    ],
    [
      'with a long and colourful reason is kept without it',
      say(`HTTP/1.1 500 ${CANARY}\u001b[31m${'x'.repeat(8_000)}\r\ncontent-length: 2\r\n\r\nno`),
      { status: 500, answer: 'no' },
    ],
    [
      'with headers that explain it is kept with their beginning, as text',
      say(
        `HTTP/1.1 500 No\r\nserver: ${'s'.repeat(5_000)}\r\nlocation: /`,
        Buffer.from([0xff, 0xc2, 0x9b]),
        '<b>\r\ncontent-length: 2\r\n\r\nno',
      ),
      { status: 500, headers: { location: '/\ufffd\ufffd<b>', server: 's'.repeat(256) }, answer: 'no' },
    ],
    [
      'with headers of all other kinds is kept without them',
      say(`HTTP/1.1 500 No\r\nx-internal: ${CANARY}\r\nset-cookie: ${CANARY}\r\ncontent-length: 2\r\n\r\nno`),
      { status: 500, answer: 'no' },
    ],
    [
      'with one header too large is malformed',
      say(`HTTP/1.1 200 OK\r\nx-a: ${CANARY.repeat(8_000)}\r\ncontent-length: 0\r\n\r\n`),
      { error: 'malformed_answer' },
    ],
    [
      'of headers without end is malformed',
      pour('HTTP/1.1 200 OK\r\n', `x-a: ${CANARY}\r\n`),
      { error: 'malformed_answer' },
    ],
    [
      'of early hints without end is malformed',
      pour('', `HTTP/1.1 103 Early Hints\r\nlink: <${CANARY}>\r\n\r\n`),
      { error: 'malformed_answer' },
    ],
    [
      'with two lengths is malformed',
      say('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'),
      { error: 'malformed_answer' },
    ],
    [
      'with a status that there is not is malformed',
      say(`HTTP/1.1 099 ${CANARY}\r\ncontent-length: 2\r\n\r\nno`),
      { error: 'malformed_answer' },
    ],
    ['in no protocol at all is malformed', say(`220 ${CANARY} ESMTP\r\n`), { error: 'malformed_answer' }],
    ['with a NUL in a header is malformed', say('HTTP/1.1 200 OK\r\nx-a: b\0c\r\n\r\n'), { error: 'malformed_answer' }],
    [
      'that switches protocols is malformed',
      say('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      { error: 'malformed_answer' },
    ],
  ])('%s', async (_what, answer, told) => {
    expect(await answerWith(answer)).toEqual(told);
  });

  test('such as these leaves the worker as well as before', async () => {
    const receiver = await herald.startReceiver();
    expect(await deliverTo(receiver.url)).toMatchObject({ status: 'delivered', attempts: [{ status: 200 }] });
  });
});

test('the text of a certificate that is refused is told nowhere', async () => {
  const stranger = await createCertificateAuthority(CANARY);
  const { certPem, keyPem } = await stranger.issueCertificate({ hosts: [`${CANARY}.internal`, '10.11.12.13'] });
  await using server = await startTls({ cert: certPem, key: keyPem }, () => undefined);
  const { attempts } = await deliverTo(server.url);
  expect(attempts).toEqual([
    {
      at: expect.any(String) as string,
      durationMs: expect.any(Number) as number,
      error: 'tls_incomplete_chain',
      ...PROOF,
    },
  ]);
  const workspace = await herald.createWorkspace();
  const { id } = await workspace.registerReceiver({ url: server.url });
  expect((await workspace.sendTest(id)).body).toMatchObject({ delivered: false, error: 'tls_incomplete_chain' });
  expect(`${toText(await dumpRedis(herald.redis))}${herald.logs()}`).not.toMatch(
    /canary-7c1f\.internal|10\.11\.12\.13/,
  );
});
