import { startProcess } from '@herald/test-kit';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createExpressHandler, createMemoryStore } from '@herald/receiver';
import { newSigningSecret } from '@herald/core';
import type { ReceivedRequest } from '@herald/test-kit';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { readExample } from './read-example.ts';

let herald: Herald;
let folder: string;
beforeAll(async () => {
  [herald, folder] = [await startHerald(), await mkdtemp(join(tmpdir(), 'herald-openssl-'))];
});
afterAll(async () => {
  await herald[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function runScript(
  name: string,
  env: Record<string, string>,
): Promise<{ code: number | null; output: string[] }> {
  const script = join(folder, name);
  await writeFile(script, await readExample(name));
  await using ran = await startProcess({ name, command: 'sh', args: ['-eu', script], env });
  const { code } = await ran.exited;
  return { code, output: ran.output().split('\n') };
}

async function verifyByHand({ headers, rawBody }: Pick<ReceivedRequest, 'headers' | 'rawBody'>, secret: string) {
  const file = join(folder, 'body');
  await writeFile(file, rawBody);
  return runScript('verify.sh', {
    SECRET: secret,
    BODY_FILE: file,
    X_SERVICE_SIGNATURE: headers['x-service-signature'] ?? '',
    WEBHOOK_ID: headers['webhook-id'] ?? '',
    WEBHOOK_TIMESTAMP: headers['webhook-timestamp'] ?? '',
    WEBHOOK_SIGNATURE: headers['webhook-signature'] ?? '',
  });
}

const RIGHT = { code: 0, output: ['x-service-signature is right', 'webhook-signature is right'] };
const WRONG = { code: 1, output: ['x-service-signature is WRONG', 'webhook-signature is WRONG'] };

test('openssl verifies a delivery by hand, and no other body, secret or header', async () => {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  const { secret } = await workspace.registerReceiver({ url: receiver.url });
  await workspace.closeTask((await workspace.createTask()).id);
  const { headers, rawBody } = await receiver.next();

  expect(await verifyByHand({ headers, rawBody }, secret)).toEqual(RIGHT);
  expect(await verifyByHand({ headers, rawBody }, newSigningSecret())).toEqual(WRONG);
  expect(await verifyByHand({ headers, rawBody: Buffer.concat([rawBody, Buffer.from('\n')]) }, secret)).toEqual(WRONG);
  expect(await verifyByHand({ headers: {}, rawBody }, secret)).toEqual(WRONG);
  const otherId = { ...headers, 'webhook-id': 'dlv_x' };
  expect((await verifyByHand({ headers: otherId, rawBody }, secret)).output).toEqual([
    RIGHT.output[0],
    WRONG.output[1],
  ]);
});

test('what curl and openssl send is taken for genuine, by who has the secret', async () => {
  const secret = newSigningSecret();
  const seen: string[] = [];
  const handler = createExpressHandler({
    secrets: secret,
    store: createMemoryStore(),
    handle: ({ event }) => void seen.push(event),
  });
  await using server = createServer((req, res) => void handler(req, res)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/herald`;
  const [sent, forged] = [
    await runScript('send.sh', { SECRET: secret, URL: url }),
    await runScript('send.sh', { SECRET: newSigningSecret(), URL: url }),
  ];
  expect([sent.output[0], forged.output[0]]).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 401 Unauthorized']);
  expect(seen).toEqual(['webhook.test']);
});
