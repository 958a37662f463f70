import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { createCertificateAuthority } from './certificate-authority.ts';
import { startReceiver } from './start-receiver.ts';
import { patient } from './wait-for.ts';

const ca = await createCertificateAuthority();

async function post(url: string, body = '{}', headers: Record<string, string> = {}, timeoutMs = 5_000) {
  const req = request(url, { method: 'POST', ca: ca.certPem, headers, agent: new Agent(), timeout: timeoutMs });
  req.on('timeout', () => req.destroy(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' })));
  req.end(body);
  const [res] = (await once(req, 'response')) as [import('node:http').IncomingMessage];
  return { status: res.statusCode, headers: res.headers, body: await text(res) };
}

test('a request is recorded byte by byte', async () => {
  await using receiver = await startReceiver({ ca });
  const answer = await post(`${receiver.url}?a=1`, '{"é": 1 }', { 'X-Service-Event': 'task.done' });
  expect(answer.status).toBe(200);
  const received = await receiver.next();
  expect(received).toMatchObject({ method: 'POST', path: '/hook?a=1', headers: { 'x-service-event': 'task.done' } });
  expect(received.rawBody).toEqual(Buffer.from('{"é": 1 }'));
});

test('a list of statuses is used in turn and its last one repeats', async () => {
  await using receiver = await startReceiver({ ca, respond: [503, 200] });
  const statuses = [await post(receiver.url), await post(receiver.url), await post(receiver.url)].map((a) => a.status);
  expect(statuses).toEqual([503, 200, 200]);
});

test('a function decides status, headers, body and delay from the request and its index', async () => {
  await using receiver = await startReceiver({
    ca,
    respond: ({ rawBody }, index) => ({
      status: 202,
      headers: { 'x-index': String(index) },
      body: rawBody,
      delayMs: 5,
    }),
  });
  await post(receiver.url, 'first');
  const second = await post(receiver.url, 'second');
  expect(second).toMatchObject({ status: 202, headers: { 'x-index': '1' }, body: 'second' });
});

test('hang takes the request and never answers', async () => {
  await using receiver = await startReceiver({ ca, respond: ['hang'] });
  const answer = post(receiver.url, '{}', {}, 1_000);
  await Promise.all([expect(answer).rejects.toMatchObject({ code: 'ETIMEDOUT' }), receiver.waitForCount(1)]);
});

test('reset takes the request and resets the connection', async () => {
  await using receiver = await startReceiver({ ca, respond: ['reset', 200] });
  await expect(post(receiver.url)).rejects.toMatchObject({ code: 'ECONNRESET' });
  await expect(post(receiver.url)).resolves.toMatchObject({ status: 200 });
});

test('next returns each request once, also one that comes after a missed deadline', async () => {
  await using receiver = await startReceiver({ ca });
  await expect(receiver.next(10)).rejects.toThrow(`waited ${patient(10)} ms for request 1 at ${receiver.origin}`);
  const waiting = receiver.next();
  await post(receiver.url, '1');
  await post(receiver.url, '2');
  const bodies = [await waiting, await receiver.next()].map(({ rawBody }) => rawBody.toString());
  expect(bodies).toEqual(['1', '2']);
});

test('waiting for a count returns all requests so far', async () => {
  await using receiver = await startReceiver({ ca });
  const waiting = receiver.waitForCount(2);
  await Promise.all([post(receiver.url), post(receiver.url)]);
  await expect(waiting).resolves.toHaveLength(2);
});

test('closing ends requests that hang or wait', async () => {
  const receiver = await startReceiver({ ca, respond: ['hang', { status: 200, delayMs: 60_000 }] });
  const answers = Promise.allSettled([post(receiver.url), post(receiver.url)]);
  await receiver.waitForCount(2);
  await receiver.close();
  expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('a respond that throws fails the test that uses it', async () => {
  const broken = () => {
    throw new Error('broken');
  };
  const receiver = await startReceiver({ ca, respond: broken });
  await expect(post(receiver.url)).rejects.toMatchObject({ code: 'ECONNRESET' });
  await expect(receiver.next()).rejects.toThrow('failed to respond');
  await expect(receiver.close()).rejects.toThrow('failed to respond');
});
