import { startHttps, startProxy, waitFor, type LoopbackServer, type Proxy } from '@herald/test-kit';
import { createDeliveryClient, type DeliveryClient } from '../../support/delivery-client.ts';
import { watchDials, type Dials } from '../../support/dials.ts';
import { scrape } from '../../support/metrics.ts';
import { deliverToPlanted } from '../../support/plant-callback.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import type { HeraldProcess } from '../../support/start-herald-process.ts';
import { startNameServer, type NameServer } from '../../support/start-name-server.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';
import { HOSTILE_ANSWERS, HOSTILE_NAMES, HOSTILE_URLS } from './hostile-destinations.ts';

jest.setTimeout(60_000);

const ADDRESS = '93.184.215.14';
const HOOKS = 'hooks.example.com';
const URL_OF_RECEIVER = `https://${HOOKS}/hook`;
const LOGIN = 'herald:pr0xy-s3cret';

let names: NameServer;
let dials: Dials;
let herald: Herald;
let receiver: LoopbackServer;
let proxy: Proxy;
let worker: HeraldProcess;
let workspace: WorkspaceClient;
let deliveries: DeliveryClient;
const requests: string[] = [];

beforeAll(async () => {
  names = await startNameServer();
  names.set(HOOKS, ADDRESS);
  dials = await watchDials();
  herald = await startHerald({
    workers: 0,
    env: { EGRESS_ALLOW_CIDRS: undefined, EGRESS_DNS_SERVERS: names.address, RETRY_SCHEDULE: '' },
  });
  const { certPem, keyPem } = await herald.ca.issueCertificate({ hosts: [HOOKS, '127.0.0.1'] });
  const credentials = { cert: certPem, key: keyPem };
  receiver = await startHttps(credentials, (request, response) => {
    requests.push(String(request.headers['x-service-event']));
    request.resume().on('end', () => response.end());
  });
  const route = () => ({ host: '127.0.0.1', port: receiver.port });
  proxy = await startProxy({ credentials, login: LOGIN, route });
  worker = await herald.startWorker({ ...dials.env, EGRESS_PROXY_URL: proxy.url });
  workspace = await herald.createWorkspace();
  deliveries = createDeliveryClient(workspace);
});
afterAll(async () => {
  for (const each of [herald, dials, names, proxy, receiver]) await each[Symbol.asyncDispose]();
});

const readinessOf = async ({ origin }: HeraldProcess) => {
  const response = await fetch(`${origin}/readyz`);
  return { code: response.status, body: await response.text() };
};
const isUp = async () => (await scrape(worker.origin)).sum('herald_egress_proxy_up');

test('deliveries and test events go out by the proxy alone, to the address that was checked', async () => {
  const registered = await workspace.registerReceiver({ url: URL_OF_RECEIVER });
  const emitted = await deliveries.emit();
  await deliveries.waitForStatus(emitted.to(registered), 'delivered');
  expect((await workspace.sendTest(registered.id)).body).toMatchObject({ delivered: true, receiverStatus: 200 });
  expect(requests).toEqual(['task.done', 'webhook.test']);
  expect(proxy.asked).toEqual([`${ADDRESS}:443`]);
  expect(receiver.connections.map(({ remotePort }) => remotePort)).toEqual(
    proxy.outgoing.map(({ localPort }) => localPort),
  );
  const dialled = await dials.taken([herald.server.port]);
  expect(new Set(dialled.map(({ address, port }) => `${address} ${port}`))).toEqual(
    new Set([`127.0.0.1 ${proxy.port}`]),
  );
  expect(await readinessOf(worker)).toMatchObject({ code: 200 });
  expect(await isUp()).toBe(1);
});

test('nothing of the guard’s corpus is asked of the proxy', async () => {
  const before = proxy.requests.length;
  const isolated = await herald.createWorkspace();
  const answers = Object.values(HOSTILE_ANSWERS).flat();
  answers.forEach((records, index) => {
    names.setInTurn(`h${index}.example.org`, records);
  });
  for (const [name, records] of Object.entries(HOSTILE_NAMES)) names.setInTurn(name, records);
  const urls = [
    ...Object.values(HOSTILE_URLS).flat(),
    ...answers.map((_, index) => `https://h${index}.example.org/`),
    ...Object.keys(HOSTILE_NAMES).map((name) => `https://${name}/`),
    `https://127.0.0.1:${proxy.port}/`,
  ];
  expect(urls.length).toBeGreaterThan(250);
  const codes = new Set<string | undefined>();
  for (let at = 0; at < urls.length; at += 25) {
    const batch = urls.slice(at, at + 25).map((url) => deliverToPlanted(herald, isolated, url));
    for (const { attempts } of await Promise.all(batch)) codes.add(attempts[0]?.error);
  }
  expect([...codes].sort()).toEqual(['address_blocked', 'dns_name_unknown']);
  expect(proxy.requests.length).toBe(before);
});

test('a receiver that is away spends a try; a proxy that refuses or is away spends none, and is told', async () => {
  const isolated = await herald.createWorkspace();
  const client = createDeliveryClient(isolated);
  proxy.answer = () => (socket) => socket.write('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  names.set('away.example.com', '93.184.215.15');
  const { toCallback } = await client.emit({ callback: { url: 'https://away.example.com/' } });
  const failed = await client.waitForStatus(toCallback, 'failed');
  expect(failed.attempts).toMatchObject([{ error: 'connection_failed' }]);

  proxy.answer = () => (socket) => socket.write('HTTP/1.1 403 Forbidden\r\n\r\n');
  const refused = await client.emit({ callback: { url: 'https://away.example.com/' } });
  await herald.waitForLog('egress.proxy_failed', worker);
  proxy.answer = () => 'tunnel';
  names.set('away.example.com', ADDRESS);
  expect((await client.waitForStatus(refused.toCallback, 'failed')).attempts).toMatchObject([
    { error: 'tls_name_mismatch' },
  ]);

  await proxy.stop();
  const registered = await isolated.registerReceiver({ url: `https://${HOOKS}/other` });
  const emitted = await Promise.all(Array.from({ length: 30 }, () => client.emit()));
  const notReady = await waitFor('the worker not to be ready', () => readinessOf(worker), {
    until: ({ code }) => code === 503,
  });
  expect(JSON.parse(notReady.body)).toMatchObject({
    problems: [{ code: 'egress_proxy', sentence: expect.stringContaining('takes no connections') as string }],
  });
  expect(await isUp()).toBe(0);
  // It reserves nothing, not even what nothing can delay.
  expect(await isolated.sendTest(registered.id)).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  for (const { to } of emitted) {
    expect(await client.read(to(registered))).toMatchObject({ status: 'pending', tries: 0, attempts: [] });
  }
  expect((await client.readReceiver(registered)).health).toMatchObject({ consecutiveFailures: 0 });

  await proxy.start();
  const backAt = performance.now();
  for (const { to } of emitted) {
    const { attempts } = await client.waitForStatus(to(registered), 'delivered');
    expect(attempts).toMatchObject([{ status: 200 }]);
  }
  expect(performance.now() - backAt).toBeLessThan(10_000);
  await waitFor('the worker to be ready', () => readinessOf(worker), { until: ({ code }) => code === 200 });
  const metrics = await scrape(worker.origin);
  expect(metrics.sum('herald_egress_proxy_failures_total', { reason: 'connect_failed' })).toBeGreaterThan(0);
  expect(metrics.sum('herald_egress_proxy_failures_total', { reason: 'refused' })).toBeGreaterThan(0);
  expect(metrics.sum('herald_internal_errors_total')).toBe(0);
  expect(metrics.sum('herald_egress_proxy_up')).toBe(1);

  const lines = herald.logs().split('\n');
  const told = lines.filter((line) => line.includes('"egress.proxy_failed"'));
  expect(told.length).toBeLessThan(6);
  expect(lines.filter((line) => line.includes('"egress.proxy_recovered"')).length).toBeGreaterThan(0);
  expect(lines.filter((line) => line.includes('internal_error'))).toEqual([]);
});

test('the credentials are in no log, page or metric', async () => {
  const wrong = await herald.startWorker({ EGRESS_PROXY_URL: proxy.url.replace('s3cret', 'wr0ng') });
  const registered = await workspace.registerReceiver({ url: `https://${HOOKS}/again` });
  worker.process.kill('SIGSTOP');
  const { to } = await deliveries.emit();
  await waitFor('the worker not to be ready', () => readinessOf(wrong), { until: ({ code }) => code === 503 });
  worker.process.kill('SIGCONT');
  // Its neighbour has the right ones, and takes what this one gave back.
  await deliveries.waitForStatus(to(registered), 'delivered');
  const pages = await Promise.all(['/readyz', '/metrics', '/healthz'].map((path) => fetch(`${wrong.origin}${path}`)));
  const texts = await Promise.all(pages.map((page) => page.text()));
  expect(texts[0]).toContain('refuses the credentials (407)');
  const secret = Buffer.from(LOGIN).toString('base64').slice(0, 12);
  for (const text of [herald.logs(), ...texts]) expect(text).not.toMatch(new RegExp(`pr0xy-|${secret}`));
});
