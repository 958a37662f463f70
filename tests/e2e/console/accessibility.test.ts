import { freePort } from '@herald/test-kit';
import type { Browser } from 'puppeteer-core';
import { startConsoleUser, type ConsoleUser } from '../../support/console-user.ts';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { findAxeViolations } from '../../support/find-axe-violations.ts';
import { OPERATOR_ENV } from '../../support/operator-client.ts';
import { checkpoint, START } from '../../support/reports.ts';
import { describeWithBrowser } from '../../support/describe-with-browser.ts';
import { startBrowser } from '../../support/start-browser.ts';
import { sized } from '../../support/sized.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { emitMany } from '../fleet/fleet.ts';

jest.setTimeout(90_000);

const DIALOGS = ['Send test event', 'Replay', 'Rotate secret', 'Edit', 'Disable', 'Remove'];
/** Those that have a part which is closed at first. */
const ADVANCED_IN = ['Add receiver', 'Edit'];
/** Right to left, and longer than any screen. */
const DESCRIPTION = `התראות של ייצור ${'מאוד '.repeat(40)}`;

describeWithBrowser('every page, for everybody', () => {
  let herald: Herald;
  let browser: Browser;
  let origin: string;
  let key: string;
  /** Each page with a text that shows once it is there, and what opens in it. */
  let pages: readonly (readonly [path: string, text: string, ...dialogs: string[]])[];
  beforeAll(async () => {
    [herald, browser] = await Promise.all([
      startHerald({ env: { ...OPERATOR_ENV, RETRY_SCHEDULE: '1h' } }),
      startBrowser(),
    ]);
    origin = herald.apis[0]?.origin ?? '';
    const receiver = await herald.startReceiver([{ status: 503, body: '{"error":"later"}' }, 200]);
    const workspace = await herald.createWorkspace();
    key = workspace.key;
    const path = `/${'long-path/'.repeat(200)}`;
    const registered = await workspace.registerReceiver({
      url: receiver.origin + path,
      description: DESCRIPTION,
      ordering: 'task',
      rateLimit: { perSecond: 1_000 },
      headers: { authorization: 'Bearer canary' },
    });
    const silent = await workspace.registerReceiver({ url: `https://127.0.0.1:${await freePort()}/` });
    const client = createDeliveryClient(workspace);
    const task = await workspace.createTask();
    await herald.executor.report(task.id, START, checkpoint('cp_1'));
    const [failed = ''] = (await client.list(registered)).deliveries.map(({ id }) => id);
    await client.waitForAttempts(failed, 1);
    await herald.executor.report(task.id, checkpoint('cp_2'));
    const [waiting = ''] = (await client.list(registered)).deliveries.map(({ id }) => id);
    const done = await client.emit();
    await client.waitForStatus(done.to(registered), 'delivered');
    await emitMany(herald, workspace, 8);
    await herald.waitForLog('endpoint.breaker_opened');
    const ofReceiver = `/console/receivers/${registered.id}`;
    pages = [
      ['/console/receivers', '2 of 10 receivers', 'Add receiver'],
      ['/console/deliveries?status=pending', 'There are no older ones.', 'Try all pending now…'],
      [ofReceiver, 'There are no older ones.', ...DIALOGS],
      [`/console/receivers/${silent.id}`, 'Gives no answer'],
      [`/console/deliveries/${failed}`, '503 Service Unavailable'],
      [`/console/deliveries/${waiting}`, 'It waits for its turn.'],
      [`/console/deliveries/${done.to(registered)}`, 'It arrived at the first attempt'],
      [`/console/tasks/${done.taskId}`, 'Delivered'],
      ['/console/verify', 'it sends nothing'],
      ['/console/nothing', 'There is nothing here'],
      ['/admin', 'Redis memory'],
      ['/admin/receivers', 'Breaker open'],
      ['/admin/failed', 'No delivery has failed lately.'],
      ['/admin/audit', 'registerReceiver'],
      ['/admin/audit?by=cli', 'The audit trail has nothing like this.'],
      [`/admin/search?q=${workspace.id}`, 'Workspace'],
    ];
  });
  afterAll(async () => {
    await browser.close();
    await herald[Symbol.asyncDispose]();
  });

  async function findFaults(user: ConsoleUser): Promise<string[]> {
    const overflow = Number(await user.page.evaluate('document.documentElement.scrollWidth - innerWidth'));
    return [...(await findAxeViolations(user.page)), ...(overflow > 0 ? [`${overflow} px too wide`] : [])];
  }

  const VIEWS = [
    { scheme: 'light', width: 1_440 },
    { scheme: 'dark', width: 360 },
    { scheme: 'dark', width: 1_440 },
    { scheme: 'light', width: 360 },
  ];
  // Colors don't depend on the width.
  test.each(VIEWS.slice(0, sized(2, 4)))(
    'axe finds nothing, and nothing is wider than the screen: $scheme, $width px',
    async ({ scheme, width }) => {
      await using user = await startConsoleUser(browser);
      await user.page.setViewport({ width, height: 800 });
      await user.page.emulateMediaFeatures([
        { name: 'prefers-color-scheme', value: scheme },
        { name: 'prefers-reduced-motion', value: 'reduce' },
      ]);
      await user.page.authenticate({ username: OPERATOR_ENV.OPERATOR_USER, password: OPERATOR_ENV.OPERATOR_PASSWORD });
      const faults: string[] = [];
      const look = async (where: string) => {
        for (const fault of await findFaults(user)) faults.push(`${where}: ${fault}`);
      };
      await user.open(`${origin}/console`);
      await user.sees('Open the console');
      await look('sign-in');
      await user.open('about:blank');
      await user.open(`${origin}/console#token=${key}`);
      for (const [path, text, ...dialogs] of pages) {
        if (path === '/admin') await user.open(origin + path);
        else await user.go(path);
        await user.sees(text);
        await look(path);
        for (const dialog of dialogs) {
          await user.press('button', dialog);
          await user.page.waitForSelector('dialog[open]');
          if (ADVANCED_IN.includes(dialog)) {
            await user.press('DisclosureTriangle', 'Advanced: order, rate, tries, headers');
            await user.sees('Most deliveries per second');
          }
          await look(`${path} ${dialog}`);
          if (dialog === 'Rotate secret') {
            await user.press('radio', 'It is lost, or somebody else may have it');
            await user.press('button', 'Rotate');
            await user.sees('This is the only time that it is shown', 'createExpressHandler');
            await user.page.keyboard.press('Escape');
            await user.sees('You have not copied the secret');
            await look(`${path} the secret`);
            await user.press('button', 'Close without it');
          }
          await user.page.keyboard.press('Escape');
          await user.page.waitForSelector('dialog', { hidden: true });
        }
      }
      await user.open('about:blank');
      await user.open(`${origin}/console#token=${(await herald.createWorkspace()).key}`);
      await user.sees('three steps to the first event', 'createExpressHandler');
      await look('the first steps');
      expect(faults).toEqual([]);
      expect(user.errors).toEqual([]);
    },
  );
});
