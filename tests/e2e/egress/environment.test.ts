import { createCertificateAuthority, startPlain, startReceiver } from '@herald/test-kit';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { watchDials } from '../../support/dials.ts';
import { startHerald } from '../../support/start-herald.ts';

jest.setTimeout(60_000);

test('no proxy that the environment names is used, and verification stays on', async () => {
  await using dials = await watchDials();
  await using proxy = await startPlain(() => undefined);
  const proxyUrl = `http://127.0.0.1:${proxy.port}`;
  const variables = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
  await using herald = await startHerald({ workers: 0, env: { RETRY_SCHEDULE: '' } });
  await herald.startWorker({
    ...Object.fromEntries(variables.map((name) => [name, proxyUrl])),
    NODE_USE_ENV_PROXY: '1',
    NO_PROXY: '',
    GLOBAL_AGENT_HTTP_PROXY: proxyUrl,
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    ...dials.env,
    NODE_OPTIONS: `${dials.env.NODE_OPTIONS ?? ''} --use-env-proxy`,
  });
  await using stranger = await startReceiver({ ca: await createCertificateAuthority('nobody trusts it') });
  const receiver = await herald.startReceiver();
  const deliveries = createDeliveryClient(await herald.createWorkspace());

  const trusted = await deliveries.emit({ callback: { url: receiver.url } });
  expect(await deliveries.waitForStatus(trusted.toCallback, 'delivered')).toMatchObject({
    attempts: [{ status: 200 }],
  });
  const untrusted = await deliveries.emit({ callback: { url: stranger.url } });
  const refused = await deliveries.waitForStatus(untrusted.toCallback, 'failed');
  expect(refused).toMatchObject({ attempts: [{ error: 'tls_incomplete_chain' }] });
  expect(stranger.requests).toEqual([]);

  const ports = (await dials.taken([herald.server.port])).map(({ port }) => port);
  expect(ports).toEqual([receiver, stranger].map(({ origin }) => Number(new URL(origin).port)));
  expect(proxy.connections).toEqual([]);
});
