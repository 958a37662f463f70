import { verify } from '@octokit/webhooks-methods';
import type { ReceivedRequest } from '@herald/test-kit';
import { createHash } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { createDeliveryClient } from '../support/delivery-client.ts';
import { checkpoint, START } from '../support/reports.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ env: { RETRY_SCHEDULE: '10ms' } });
});
afterAll(() => herald[Symbol.asyncDispose]());

function verifyService({ rawBody, headers }: ReceivedRequest, secret: string): Promise<boolean> {
  return verify(secret, rawBody.toString(), headers['x-service-signature'] ?? '');
}

/** Throws when it doesn't verify. */
function verifyStandard({ rawBody, headers }: ReceivedRequest, secret: string): unknown {
  return new Webhook(secret).verify(rawBody.toString(), headers);
}

function changeOneByte({ rawBody, ...rest }: ReceivedRequest, index: number): ReceivedRequest {
  const changed = Buffer.from(rawBody);
  changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
  return { ...rest, rawBody: changed };
}

/** Deliveries of one body with text beyond ASCII: to a receiver, its retry, and to a callback, each with its secret. */
async function receiveAll(): Promise<{ request: ReceivedRequest; secret: string }[]> {
  const workspace = await herald.createWorkspace();
  const [receiver, callback] = [await herald.startReceiver([500, 200]), await herald.startReceiver()];
  const { secret } = await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask({ callback: { url: callback.url } });
  const outcome = { summary: 'Zahlung für "Äpfel" – 20 € ✓ \u2028 \ud83d\ude80' };
  await herald.executor.report(task.id, START, checkpoint('c1', { outcome }));
  return [
    { request: await receiver.next(), secret },
    { request: await receiver.next(), secret },
    { request: await callback.next(), secret: task.callback?.secret ?? '' },
  ];
}

test('both signatures of every delivery verify with libraries that nobody here wrote', async () => {
  const deliveries = await receiveAll();
  for (const { request, secret } of deliveries) {
    await expect(verifyService(request, secret)).resolves.toBe(true);
    expect(verifyStandard(request, secret)).toMatchObject({ event: 'task.check_in' });
    expect(request.headers['x-service-signature']).toMatch(/^sha256=[0-9a-f]{64}$/);
    expect(request.headers['webhook-id']).toBe(request.headers['x-service-delivery']);
  }
});

test('one changed byte anywhere in the body fails both', async () => {
  const [delivery] = await receiveAll();
  if (!delivery) throw new Error('nothing was delivered');
  const { request, secret } = delivery;
  for (const index of [0, Math.floor(request.rawBody.length / 2), request.rawBody.length - 1]) {
    const changed = changeOneByte(request, index);
    await expect(verifyService(changed, secret)).resolves.toBe(false);
    expect(() => verifyStandard(changed, secret)).toThrow('No matching signature found');
  }
});

test("another endpoint's secret verifies nothing", async () => {
  const [toReceiver, , toCallback] = await receiveAll();
  if (!toReceiver || !toCallback) throw new Error('nothing was delivered');
  await expect(verifyService(toReceiver.request, toCallback.secret)).resolves.toBe(false);
  expect(() => verifyStandard(toReceiver.request, toCallback.secret)).toThrow('No matching signature found');
});

test('a changed id or timestamp fails the Standard Webhooks signature', async () => {
  const [delivery] = await receiveAll();
  if (!delivery) throw new Error('nothing was delivered');
  const { request, secret } = delivery;
  const withHeader = (name: string, value: string) => ({ ...request, headers: { ...request.headers, [name]: value } });
  const later = String(Number(request.headers['webhook-timestamp']) + 1);
  for (const changed of [withHeader('webhook-id', 'dlv_other'), withHeader('webhook-timestamp', later)]) {
    expect(() => verifyStandard(changed, secret)).toThrow('No matching signature found');
  }
});

test('an attempt names the keys that signed it, in a rotation both, the address, and the digest of the whole answer', async () => {
  const answer = 'ü'.repeat(2_000);
  const receiver = await herald.startReceiver(() => ({ status: 200, body: answer }));
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  const registered = await workspace.registerReceiver({ url: receiver.url });
  const rotated = await workspace.request('POST', `/api/public/webhooks/${registered.id}/secret/rotate`, { body: {} });
  const { secret } = rotated.body as { secret: string };
  const { to } = await deliveries.emit();
  const { attempts } = await deliveries.waitForStatus(to(registered), 'delivered');
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  expect(attempts).toMatchObject([
    {
      address: '127.0.0.1',
      keyIds: [secret, registered.secret].map((each) => sha256(each).slice(0, 6)),
      answerDigest: sha256(answer).slice(0, 32),
    },
  ]);
});
