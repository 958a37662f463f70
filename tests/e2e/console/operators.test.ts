import { freePort } from '@herald/test-kit';
import type { Browser } from 'puppeteer-core';
import { auditTrailOf } from '../../support/audit-trail-of.ts';
import { shardKeys } from '../../support/delivery-state.ts';
import { startConsoleUser, type Way } from '../../support/console-user.ts';
import { OPERATOR_ENV } from '../../support/operator-client.ts';
import { describeWithBrowser } from '../../support/describe-with-browser.ts';
import { sized } from '../../support/sized.ts';
import { startBrowser } from '../../support/start-browser.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';
import { emitMany } from '../fleet/fleet.ts';

jest.setTimeout(60_000);

/** Both ways; in `npm test` by keyboard. */
const WAYS = sized<readonly { way: Way }[]>([{ way: 'keyboard' }], [{ way: 'pointer' }, { way: 'keyboard' }]);

describeWithBrowser('an operator with the console', () => {
  let herald: Herald;
  let browser: Browser;
  let origin: string;
  let workspace: WorkspaceClient;
  let host: string;
  beforeAll(async () => {
    [herald, browser] = await Promise.all([
      startHerald({ env: { ...OPERATOR_ENV, RETRY_SCHEDULE: '1h' } }),
      startBrowser(),
    ]);
    origin = herald.apis[0]?.origin ?? '';
    workspace = await herald.createWorkspace();
    host = `127.0.0.1:${await freePort()}`;
    await workspace.registerReceiver({ url: `https://${host}/hook` });
    await emitMany(herald, workspace, 8);
    await herald.waitForLog('endpoint.breaker_opened');
  });
  afterAll(async () => {
    await browser.close();
    await herald[Symbol.asyncDispose]();
  });

  test.each(WAYS)('finds a broken receiver, and why it is broken, in three steps ($way)', async ({ way }) => {
    await using user = await startConsoleUser(browser, way);
    await user.page.authenticate({ username: OPERATOR_ENV.OPERATOR_USER, password: OPERATOR_ENV.OPERATOR_PASSWORD });
    await user.open(`${origin}/admin`);
    await user.sees('Overview', 'Redis memory', 'worker');
    await user.sees('must wait; Receivers names them');
    await user.press('link', 'Receivers');
    await user.sees(host, 'Breaker open', workspace.id);
    await user.press('button', host);
    await user.sees('Receivers', `${host}/hook`, 'Gives no answer', 'read-only link');
    await user.press('link', `${host}/hook`);
    await user.sees('Nothing listens at the port of the URL.', 'The next such probe', 'Connection refused');
    expect({ errors: user.errors, requested: [...user.requested] }).toEqual({ errors: [], requested: [origin] });
  });

  test('goes from a paused queue to the board on which it is resumed', async () => {
    await using user = await startConsoleUser(browser);
    await user.page.authenticate({ username: OPERATOR_ENV.OPERATOR_USER, password: OPERATOR_ENV.OPERATOR_PASSWORD });
    await herald.redis.hset(shardKeys().queue.settings, 'paused', '1');
    await user.open(`${origin}/admin`);
    await user.sees('is paused by an operator', 'resume it on the board');
    await herald.redis.hdel(shardKeys().queue.settings, 'paused');
    await user.press('link', 'board');
    // Loaded anew: the board is no page of the console.
    await user.page.waitForSelector('base[href="/admin/queues/"]');
    expect(new URL(user.page.url()).pathname).toBe('/admin/queues');
  });

  test('comes by an address that has his name and password', async () => {
    await using user = await startConsoleUser(browser);
    const { OPERATOR_USER: name, OPERATOR_PASSWORD: password } = OPERATOR_ENV;
    await user.open(`${origin.replace('//', `//${name}:${encodeURIComponent(password)}@`)}/admin`);
    await user.sees('Overview', 'Redis memory', 'worker');
    expect(user.errors).toEqual([]);
  });

  test.each(WAYS)('locks a receiver whose customer then reads why, and lifts the lock ($way)', async ({ way }) => {
    const api = await herald.startApi({ OPERATOR_WRITE: 'true' });
    const locked = await workspace.registerReceiver({ url: `https://${host}/locked-${way}` });
    await using operator = await startConsoleUser(browser, way);
    const { OPERATOR_USER: username, OPERATOR_PASSWORD: password } = OPERATOR_ENV;
    await operator.page.authenticate({ username, password });
    await operator.open(`${api.origin}/admin/search?q=${locked.id}`);
    await operator.press('button', host);
    await operator.press('button', 'Pause');
    await operator.sees('loses no try, redeliveries too');
    await operator.type('Reason', 'It rests');
    await operator.press('button', 'Pause');
    await operator.sees('The platform holds back what is sent to it: It rests. Only the platform');
    await operator.press('button', 'Resume');
    await operator.sees('What waits is sent now');
    await operator.press('button', 'Resume');
    await operator.sees('Resumed.');
    await operator.press('button', 'Lock');
    await operator.sees('its customer can’t enable or change it');
    await operator.type('Reason', 'Its host asked us to stop');
    await operator.press('button', 'Lock');
    await operator.sees('Locked.');

    const made = await workspace.request('POST', '/api/public/portal-links', { body: {} });
    await using customer = await startConsoleUser(browser, way);
    await customer.open(`${origin}/console/receivers/${locked.id}#token=${(made.body as { token: string }).token}`);
    const shown = await customer.sees(
      'Disabled by the platform: Its host asked us to stop. Only the platform enables it',
    );
    const { webhooks } = await workspace.listReceivers();
    expect(webhooks.find(({ id }) => id === locked.id)).toMatchObject({ disabledReason: 'locked' });
    await customer.sees('Rotate secret', 'Remove');
    for (const action of ['Enable', 'Edit', 'Send test event', 'Pause', 'Lock', 'Lift the lock']) {
      expect(shown.split('\n')).not.toContain(action);
    }

    await operator.press('button', 'Lift the lock');
    await operator.sees('This enables the receiver');
    await operator.press('button', 'Lift the lock');
    await operator.sees('Enabled.');
    await customer.seesNot('Disabled by the platform');
    await customer.sees('Edit', 'Send test event');
    expect({ ofOperator: operator.errors, ofCustomer: customer.errors }).toEqual({ ofOperator: [], ofCustomer: [] });
    await workspace.request('DELETE', `/api/public/webhooks/${locked.id}`);
    await api.stop();
  });

  test('sees who changed what, narrows it to one doer and to a workspace, and has both in the address', async () => {
    await auditTrailOf(herald).add({ by: 'cli', user: 'ann', action: 'reshard', target: '1 to 4 shards' });
    await using user = await startConsoleUser(browser);
    await user.page.authenticate({ username: OPERATOR_ENV.OPERATOR_USER, password: OPERATOR_ENV.OPERATOR_PASSWORD });
    await user.open(`${origin}/admin`);
    await user.press('link', 'Audit trail');
    await user.sees('registerReceiver', workspace.id, '1 to 4 shards', 'ann');
    await user.press('button', 'cli');
    await user.seesNot('registerReceiver');
    await user.sees('reshard', 'Clear filters');
    expect(new URL(user.page.url()).search).toBe('?by=cli');
    await user.open(`${origin}/admin/audit?workspace=${workspace.id}&range=1h`);
    await user.sees('registerReceiver', workspace.id);
    await user.seesNot('reshard');
    expect(user.errors).toEqual([]);
  });

  test('finds a workspace by the id of a receiver, and sees that nothing failed', async () => {
    const { webhooks } = await workspace.listReceivers();
    await using user = await startConsoleUser(browser, 'keyboard');
    await user.page.authenticate({ username: OPERATOR_ENV.OPERATOR_USER, password: OPERATOR_ENV.OPERATOR_PASSWORD });
    await user.open(`${origin}/admin/failed`);
    await user.sees('No delivery has failed lately.');
    await user.page.keyboard.press('/');
    await user.page.keyboard.sendCharacter(webhooks[0]?.id ?? '');
    await user.page.keyboard.press('Enter');
    await user.sees('Receiver', workspace.id);
    expect(user.errors).toEqual([]);
  });

  test('opens the console of a workspace at the port of customers, from a port of their own', async () => {
    const [port, operatorPort] = [await freePort(), await freePort()];
    await using other = await startHerald({
      workers: 0,
      env: { ...OPERATOR_ENV, PORT: String(port), OPERATOR_PORT: String(operatorPort) },
    });
    const customer = await other.createWorkspace();
    const { id } = await customer.registerReceiver({ url: 'https://hooks.example.com/in' });
    await using user = await startConsoleUser(browser, 'keyboard');
    await user.page.authenticate({ username: OPERATOR_ENV.OPERATOR_USER, password: OPERATOR_ENV.OPERATOR_PASSWORD });
    await user.open(`http://127.0.0.1:${operatorPort}/admin/search?q=${id}`);
    await user.sees('Receiver', customer.id);
    await user.press('button', 'hooks.example.com');
    await user.sees('hooks.example.com', 'read-only link');
    expect(user.page.url()).toBe(`http://127.0.0.1:${port}/console/receivers/${id}`);
    expect(user.errors).toEqual([]);
  });
});
