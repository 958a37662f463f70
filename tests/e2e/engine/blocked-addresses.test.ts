import { createDeliveryClient } from '../../support/delivery-client.ts';
import { startHerald } from '../../support/start-herald.ts';
import { startNameServer } from '../../support/start-name-server.ts';
import { startRawServer } from '../../support/start-raw-server.ts';

jest.setTimeout(60_000);

test('a blocked address spends a try of the schedule, and a name that moves to an allowed one is delivered to', async () => {
  await using names = await startNameServer();
  names.set('moving.example.com', '192.168.7.7');
  await using herald = await startHerald({
    env: { RETRY_SCHEDULE: '50ms,50ms,50ms,50ms,50ms,50ms,50ms,50ms,50ms,1m', EGRESS_DNS_SERVERS: names.address },
  });
  await using server = await startRawServer({
    ca: herald.ca,
    hosts: ['moving.example.com'],
    answer: (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
  });
  const deliveries = createDeliveryClient(await herald.createWorkspace());
  const url = `https://moving.example.com:${server.port}/hook`;
  const { toCallback } = await deliveries.emit({ callback: { url } });
  await deliveries.waitForAttempts(toCallback, 2);
  names.set('moving.example.com', '127.0.0.1');
  const { attempts } = await deliveries.waitForStatus(toCallback, 'delivered');
  expect(attempts[0]).toMatchObject({ error: 'address_blocked' });
  expect(attempts[1]).toMatchObject({ error: 'address_blocked' });
  expect(attempts.at(-1)).toMatchObject({ status: 200 });
  expect(server.requestCount()).toBe(1);
});

test('a worker refuses an address that the API lets pass: its own ranges count', async () => {
  await using herald = await startHerald({ workers: 0, env: { RETRY_SCHEDULE: '' } });
  await herald.startWorker({ EGRESS_ALLOW_CIDRS: '10.0.0.0/8' });
  const receiver = await herald.startReceiver();
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  const registered = await workspace.registerReceiver({ url: receiver.url });
  const emitted = await deliveries.emit();
  const delivery = await deliveries.waitForStatus(emitted.to(registered), 'failed');
  expect(delivery.attempts).toMatchObject([{ error: 'address_blocked' }]);
  expect(receiver.requests).toEqual([]);
});
