import { waitFor } from '@herald/test-kit';
import type { Browser } from 'puppeteer-core';
import { startConsoleUser, type ConsoleUser } from '../../support/console-user.ts';
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

  /** A page of the console about a receiver, that looks `SPEED` times as often, and what it asks for. */
  async function openReceiver() {
    const receiver = await herald.startReceiver(() => ({ status: 200 }));
    const workspace = await herald.createWorkspace();
    const { id } = await workspace.registerReceiver({ url: receiver.url });
    const answer = await workspace.request('POST', '/api/public/portal-links', { body: {} });
    const { token } = answer.body as { token: string };
    const user = await startConsoleUser(browser);
    await user.page.evaluateOnNewDocument(`
      const start = window.setInterval.bind(window);
      window.setInterval = (run, ms = 0, ...args) => start(run, ms / ${SPEED}, ...args);
    `);
    const urls: URL[] = [];
    user.page.on('request', (request) => urls.push(new URL(request.url())));
    await user.open(`${herald.apis[0]?.origin}/console/receivers/${id}#token=${token}`);
    const countOf = (path: string) => urls.filter(({ pathname }) => pathname === path).length;
    await waitFor('the page to ask often', () => countOf(ASKED), { until: (count) => count >= 3 });
    return { workspace, id, host: new URL(receiver.url).host, user, urls, countOf };
  }

  /** Removes the receiver of the page, whose DELETE gets this answer. */
  async function removeSlowly(
    user: ConsoleUser,
    host: string,
    answer: () => Promise<{ status: number; body: unknown }>,
  ) {
    await user.press('button', 'Remove');
    await user.type(`Type ${host} to confirm`, host);
    await user.page.setRequestInterception(true);
    user.page.on('request', (request) => {
      if (request.method() !== 'DELETE') {
        void request.continue();
        return;
      }
      void (async () => {
        const { status, body } = await answer();
        await request.respond({ status, contentType: 'application/json', body: JSON.stringify(body) });
      })();
    });
    await user.page.locator('dialog .button-bad').click();
  }
  /** The page would ask every 5 s. */
  const fourLooks = (user: ConsoleUser) =>
    user.page.evaluate('new Promise((done) => window.setInterval(done, 20_000))');

  test('reads its lists again only when something has happened', async () => {
    const { workspace, id, user: opened, countOf } = await openReceiver();
    await using user = opened;
    const list = `/api/public/webhooks/${id}/deliveries`;
    const lists = () => countOf(list);
    const before = lists();
    const askedBefore = countOf(ASKED);
    await waitFor('the page to ask again and again', () => countOf(ASKED), {
      until: (count) => count >= askedBefore + 6,
    });
    expect([before > 0, lists() - before]).toEqual([true, 0]);

    await createDeliveryClient(workspace).emit();
    await waitFor('the page to read its list', lists, { until: (count) => count > before });
    await user.seesNot('None has been made yet.');
    expect(user.errors).toEqual([]);
  });

  test('reads nothing of a receiver whose removal has begun, however long the answer takes', async () => {
    const { workspace, id, host, user: opened, urls } = await openReceiver();
    await using user = opened;
    let readBefore = 0;
    await removeSlowly(user, host, async () => {
      readBefore = urls.length;
      const answer = await workspace.request('DELETE', `/api/public/webhooks/${id}`);
      await fourLooks(user);
      return answer;
    });
    await user.sees('Removed.', 'No receiver yet');
    const after = urls.slice(readBefore).map(({ href }) => href);
    expect(after).not.toEqual([]);
    expect(after.filter((url) => url.includes(id))).toEqual([]);
    expect(user.errors).toEqual([]);
    // Who comes back is told.
    await user.page.goBack();
    await user.sees('not found');
  });

  test('reads on after a removal that failed', async () => {
    const { id, host, user: opened, urls } = await openReceiver();
    await using user = opened;
    const receiver = `/api/public/webhooks/${id}`;
    let readBefore = Infinity;
    await removeSlowly(user, host, async () => {
      await fourLooks(user);
      readBefore = urls.length;
      return { status: 503, body: { status: 503, code: 'unavailable', detail: 'the store is away for a moment' } };
    });
    await user.sees('The store is away for a moment');
    for (const path of [ASKED, receiver, `${receiver}/deliveries`, `${receiver}/stats`])
      await waitFor(`the page to read ${path} again`, () =>
        urls.slice(readBefore).some((url) => url.pathname === path),
      );
    expect(user.errors.filter((error) => !error.includes('503'))).toEqual([]);
  });
});
