import { problemOf } from '../../support/problems.ts';
import { deliverToPlanted } from '../../support/plant-callback.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { startNameServer, type NameRecords, type NameServer } from '../../support/start-name-server.ts';
import { watchDials, type Dial, type Dials } from '../../support/dials.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';
import {
  HOSTILE_ANSWERS,
  HOSTILE_NAMES,
  HOSTILE_URLS,
  MISWRITTEN_URLS,
  PUBLIC_DESTINATIONS,
} from './hostile-destinations.ts';

jest.setTimeout(60_000);

let names: NameServer;
let dials: Dials;
let herald: Herald;
let workspace: WorkspaceClient;

beforeAll(async () => {
  names = await startNameServer();
  // Where a careless resolver would lead: names of private networks that a worker must not follow.
  for (const name of [
    'printer.local',
    'vault.internal',
    'metadata.google.internal',
    'kubernetes',
    'redis',
    'metadata',
  ]) {
    names.set(name, '169.254.169.254');
  }
  dials = await watchDials();
  herald = await startHerald({
    workers: 0,
    env: {
      EGRESS_ALLOW_CIDRS: undefined,
      EGRESS_DNS_SERVERS: names.address,
      RETRY_SCHEDULE: '',
      DELIVERY_TIMEOUT: '5s',
    },
  });
  await herald.startWorker(dials.env);
  workspace = await herald.createWorkspace();
});
afterAll(async () => {
  await herald[Symbol.asyncDispose]();
  await dials[Symbol.asyncDispose]();
  await names[Symbol.asyncDispose]();
});

const dialled = async (): Promise<string[]> =>
  (await dials.taken([herald.server.port])).map(({ address, port }: Dial) => `${address} ${port}`).sort();

const rows = <T>(groups: Readonly<Record<string, readonly T[]>>) =>
  Object.entries(groups).flatMap(([what, cases]) => cases.map((each) => [what, each] as const));

/** Delivers to a name with these records, and shows that nothing was dialled and nothing told. */
async function expectNoDial(url: string, addresses: readonly string[] = []): Promise<void> {
  const delivery = await deliverToPlanted(herald, workspace, url);
  expect(await dialled()).toEqual([]);
  expect(delivery.status).toBe('failed');
  expect(delivery.attempts).toEqual([
    {
      at: expect.any(String) as string,
      durationMs: expect.any(Number) as number,
      error: expect.stringMatching(/^(address_blocked|dns_[a-z_]+)$/) as string,
    },
  ]);
  // The url is the customer's own.
  const { request: _, ...outcome } = delivery;
  const told = JSON.stringify(outcome);
  expect(addresses.filter((address) => told.includes(address))).toEqual([]);
}

describe('a hostile url', () => {
  test.each(rows(HOSTILE_URLS))('(%s) %j is refused at registration, and dials nothing past it', async (_what, url) => {
    const answer = await workspace.request('POST', '/api/public/webhooks', { body: { url } });
    expect(problemOf(answer)).toMatchObject({ status: 422, code: 'validation_failed' });
    await expectNoDial(url);
  });

  test.each(MISWRITTEN_URLS)('%j is refused at registration: it is not written as it is read', async (url) => {
    const answer = await workspace.request('POST', '/api/public/webhooks', { body: { url } });
    expect(problemOf(answer)).toMatchObject({ status: 422, code: 'validation_failed' });
  });
});

describe('a hostile answer', () => {
  const addressesOf = ({ a = [], aaaa = [] }: NameRecords) => [...a, ...aaaa].filter((address) => address.length > 3);

  // Each has a name, and so a destination, of its own: where one was dialled, the breaker must not hide the next.
  const answers = rows(HOSTILE_ANSWERS).map(
    ([what, records], index) => [what, records, `h${index}.example.org`] as const,
  );
  test.each(answers)('(%s) %j dials nothing, and no address is told', async (_what, records, name) => {
    names.setInTurn(name, records);
    await expectNoDial(`https://${name}/`, addressesOf(records));
    expect(names.questions).toContain(`A ${name}`);
  });

  test.each(Object.entries(HOSTILE_NAMES))('to the name %s dials nothing', async (name, records) => {
    names.setInTurn(name, records);
    const registered = await workspace.createTask({ callback: { url: `https://${name}/` } });
    expect(registered.callback?.url).toBe(`https://${name}/`);
    await expectNoDial(`https://${name}/`, addressesOf(records));
  });
});

describe('a public destination', () => {
  test.each(PUBLIC_DESTINATIONS)('$url is registered, and dialled at the address that was checked', async (each) => {
    const { url, records, dials: expected } = each;
    if (records) names.setInTurn(new URL(url).hostname, records);
    const { callback } = await workspace.createTask({ callback: { url } });
    expect(callback?.url).toBe(url);
    const delivery = await deliverToPlanted(herald, workspace, url);
    expect(delivery.attempts).toMatchObject([{ error: 'host_unreachable' }]);
    expect(await dialled()).toEqual(expected);
  });
});

test('the corpus is as large as it says', () => {
  expect(rows(HOSTILE_URLS).length + rows(HOSTILE_ANSWERS).length).toBeGreaterThan(250);
  expect(new Set(rows(HOSTILE_URLS).map(([, url]) => url)).size).toBe(rows(HOSTILE_URLS).length);
  expect(PUBLIC_DESTINATIONS.length).toBeGreaterThanOrEqual(15);
});
