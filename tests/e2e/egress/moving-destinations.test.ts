import { deliverToPlanted } from '../../support/plant-callback.ts';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { watchDials, type Dials } from '../../support/dials.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { startNameServer, type NameServer } from '../../support/start-name-server.ts';

jest.setTimeout(60_000);

const NAME = 'moving.example.com';

let names: NameServer;
let dials: Dials;
let herald: Herald;
beforeAll(async () => {
  names = await startNameServer();
  dials = await watchDials();
  const env = { EGRESS_ALLOW_CIDRS: '127.0.0.1/32', EGRESS_DNS_SERVERS: names.address, RETRY_SCHEDULE: '50ms,50ms' };
  herald = await startHerald({ workers: 0, env });
  await herald.startWorker(dials.env);
});
afterAll(async () => {
  await herald[Symbol.asyncDispose]();
  await dials[Symbol.asyncDispose]();
  await names[Symbol.asyncDispose]();
});

const dialled = async () => (await dials.taken([herald.server.port])).map(({ address, port }) => `${address} ${port}`);

describe('a name whose answer changes between two questions', () => {
  test('is asked once per attempt, and what was checked is what is dialled', async () => {
    names.setInTurn(NAME, { a: ['93.184.215.14'] }, { a: ['10.0.0.1'] }, { a: ['169.254.169.254'] });
    const { attempts } = await deliverToPlanted(herald, await herald.createWorkspace(), `https://${NAME}/`);
    expect(attempts.map(({ error }) => error)).toEqual(['host_unreachable', 'address_blocked', 'address_blocked']);
    expect(await dialled()).toEqual(['93.184.215.14 443']);
    expect(names.questions.filter((question) => question === `A ${NAME}`)).toHaveLength(3);
  });

  test('is dialled as soon as it is public, and never before', async () => {
    names.setInTurn(NAME, { a: ['10.0.0.1'] }, { a: ['1.1.1.1', '10.0.0.1'] }, { a: ['1.1.1.1'] });
    const { attempts } = await deliverToPlanted(herald, await herald.createWorkspace(), `https://${NAME}/`);
    expect(attempts.map(({ error }) => error)).toEqual(['address_blocked', 'address_blocked', 'host_unreachable']);
    expect(await dialled()).toEqual(['1.1.1.1 443']);
  });

  test('is blocked when only the other family moved', async () => {
    names.setInTurn(NAME, { a: ['1.1.1.1'], aaaa: ['fd00::1'] }, { a: ['10.0.0.1'], aaaa: ['2606:4700::1'] });
    const { attempts } = await deliverToPlanted(herald, await herald.createWorkspace(), `https://${NAME}/`);
    expect(attempts.map(({ error }) => error)).toEqual(Array(3).fill('address_blocked'));
    expect(await dialled()).toEqual([]);
  });
});

test.each([301, 302, 303, 307, 308])('a redirect with %i leads nowhere, wherever it points', async (status) => {
  const targets = [
    'https://169.254.169.254/latest/meta-data/',
    'http://169.254.169.254/',
    'https://127.0.0.1:6379/',
    'https://2130706433/',
    'https://[::ffff:10.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    '//10.0.0.1/',
    '/elsewhere',
    'https://localhost/',
    'https://1.1.1.1/',
    'file:///etc/passwd',
    'nonsense:',
  ];
  const receiver = await herald.startReceiver((_request, index) => ({
    status,
    headers: { location: targets[index] ?? '/', refresh: `0; url=${targets[index] ?? '/'}` },
  }));
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  const { id } = await workspace.registerReceiver({ url: receiver.url, events: ['webhook.test'] });
  while (receiver.requests.length < targets.length) {
    expect((await workspace.sendTest(id)).body).toMatchObject({ delivered: false, receiverStatus: status });
  }
  expect(receiver.requests.map(({ path }) => path)).toEqual(targets.map(() => '/hook'));
  const { deliveries: log } = await deliveries.list({ id });
  const { attempts } = await deliveries.read(log[0]?.id ?? '');
  expect(attempts).toMatchObject([{ status }]);
  expect(attempts[0]).not.toHaveProperty('answer');
  const port = Number(new URL(receiver.url).port);
  expect(new Set(await dialled())).toEqual(new Set([`127.0.0.1 ${port}`]));
});
