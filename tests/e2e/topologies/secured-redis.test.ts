import { createRedisSecurity } from '@herald/test-kit';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { scrape } from '../../support/metrics.ts';
import { startHerald } from '../../support/start-herald.ts';

jest.setTimeout(120_000);

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'herald-secured-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test.each(['sentinel', 'cluster'] as const)(
  'on the topology %s with TLS, a password and names instead of addresses, deliveries go out',
  async (topology) => {
    const security = await createRedisSecurity(dir);
    await using herald = await startHerald({ topology, redis: { security }, env: { SHARDS: '3' } });
    const receiver = await herald.startReceiver([500, 200]);
    const workspace = await herald.createWorkspace();
    const registered = await workspace.registerReceiver({ url: receiver.url });
    const client = createDeliveryClient(workspace);
    await client.waitForStatus((await client.emit()).to(registered), 'delivered', 30_000);
    expect((await workspace.sendTest(registered.id)).body).toMatchObject({ delivered: true });
    const [worker] = herald.workers;
    // Of a certificate that was made for this test.
    const left = (await scrape(worker?.origin ?? '')).sum('herald_certificate_ends_seconds', { of: 'redis' });
    expect(left).toBeGreaterThan(0);
  },
);
