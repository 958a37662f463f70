import { waitFor } from '@herald/test-kit';
import type { Browser } from 'puppeteer-core';
import { startConsoleUser } from '../../support/console-user.ts';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { describeWithBrowser } from '../../support/describe-with-browser.ts';
import { startBrowser } from '../../support/start-browser.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';

/** The page looks so much more often. */
const SPEED = 20;
const ASKED = '/api/public/activity';

describeWithBrowser('a page that is left open', () => {
  let herald: Herald;
  let browser: Browser;
  beforeAll(async () => {
    [herald, browser] = await Promise.all([startHerald(), startBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await herald[Symbol.asyncDispose]();
  });

  test('reads its lists again only when something has happened', async () => {
    const receiver = await herald.startReceiver(() => ({ status: 200 }));
    const workspace = await herald.createWorkspace();
    const registered = await workspace.registerReceiver({ url: receiver.url });
    const answer = await workspace.request('POST', '/api/public/portal-links', { body: {} });
    const { token } = answer.body as { token: string };
    await using user = await startConsoleUser(browser);
    await user.page.evaluateOnNewDocument(`
      const start = window.setInterval.bind(window);
      window.setInterval = (run, ms = 0, ...args) => start(run, ms / ${SPEED}, ...args);
    `);
    const paths: string[] = [];
    user.page.on('request', (request) => paths.push(new URL(request.url()).pathname));
    const asked = () => paths.filter((path) => path === ASKED).length;
    const list = `/api/public/webhooks/${registered.id}/deliveries`;
    const lists = () => paths.filter((path) => path === list).length;

    await user.open(`${herald.apis[0]?.origin}/console/receivers/${registered.id}#token=${token}`);
    await waitFor('the page to ask often', asked, { until: (count) => count >= 3 });
    const before = lists();
    const askedBefore = asked();
    await waitFor('the page to ask again and again', asked, { until: (count) => count >= askedBefore + 6 });
    expect([before > 0, lists() - before]).toEqual([true, 0]);

    await createDeliveryClient(workspace).emit();
    await waitFor('the page to read its list', lists, { until: (count) => count > before });
    await user.seesNot('None has been made yet.');
    expect(user.errors).toEqual([]);
  });
});
