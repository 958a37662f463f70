import { patient, waitFor } from '@herald/test-kit';
import type { Browser, Page } from 'puppeteer-core';
import { BOARD, createOperatorClient, OPERATOR_ENV } from '../../support/operator-client.ts';
import { describeWithBrowser } from '../../support/describe-with-browser.ts';
import { startBrowser } from '../../support/start-browser.ts';
import { CANARIES, startScene, type Scene } from './scene.ts';

const DEADLINE_MS = 30_000;

describeWithBrowser('in a browser', () => {
  let scene: Scene;
  let browser: Browser;
  /** Of the API, as the browser calls it. */
  let origin: string;
  beforeAll(async () => {
    scene = await startScene({ OPERATOR_WRITE: 'true' });
    browser = await startBrowser();
    origin = scene.herald.apis[0]?.origin ?? '';
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await scene[Symbol.asyncDispose]();
  });

  /** A window of a user of his own, with what went wrong in it and all that it asked for. */
  async function openWindow() {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    page.setDefaultTimeout(patient(DEADLINE_MS));
    const errors: string[] = [];
    const requested = new Set<string>();
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('request', (request) => requested.add(new URL(request.url()).origin));
    return { page, errors, requested };
  }

  async function signIn() {
    const opened = await openWindow();
    await opened.page.authenticate({ username: OPERATOR_ENV.OPERATOR_USER, password: OPERATOR_ENV.OPERATOR_PASSWORD });
    return opened;
  }

  /** Waits until the page shows all of them at once, and returns all that it shows then. */
  async function waitForText(page: Page, ...texts: readonly string[]): Promise<string> {
    return await waitFor(
      `the page to show ${texts.join(', ')}`,
      async () => String(await page.evaluate('document.body.textContent')),
      { until: (shown) => texts.every((text) => shown.includes(text)), deadlineMs: DEADLINE_MS },
    );
  }

  const clickOn = (page: Page, text: string) => page.locator(`::-p-text(${text})`).click();

  test('an operator signs in, opens a delayed job, and reads what it is for and when it goes on', async () => {
    const { delayed, workspace } = scene;
    const { page, errors, requested } = await signIn();
    await page.goto(`${origin}${BOARD}/`);
    expect(await page.title()).toBe('Herald');
    await waitForText(page, 'Deliveries');
    await page.goto(`${origin}${BOARD}/queue/deliveries?status=delayed`);
    await clickOn(page, delayed.deliveryId);
    await waitFor('the job to be opened', () => page.url().includes(`/queue/deliveries/${delayed.deliveryId}`));
    const { job } = await createOperatorClient(scene.herald).readJob('deliveries', delayed.deliveryId);
    const text = await waitForText(
      page,
      `task.done → ${delayed.host}`,
      workspace.id,
      delayed.host,
      String(job.data.nextTry),
      'Will run at',
    );
    expect(text).toContain('Will run at');
    expect(text).not.toContain('unknown');
    for (const hidden of CANARIES) expect(text).not.toContain(hidden);
    expect({ errors, requested: [...requested] }).toEqual({ errors: [], requested: [origin] });
    await page.browserContext().close();
  }, 60_000);

  test('of one that got 500 twice he reads both attempts with their answers under Logs, and the last under Error', async () => {
    const { page, errors } = await signIn();
    await page.goto(`${origin}${BOARD}/queue/deliveries/${scene.delayed.deliveryId}?status=delayed`);
    await waitForText(page, scene.delayed.host);
    await clickOn(page, 'Logs');
    const logs = await waitForText(page, 'first answer-canary', 'second answer-canary');
    expect(logs.match(/answered 500 after \d+ ms/g)).toHaveLength(2);
    await clickOn(page, 'Error');
    // The log says so too, and stays until the tab has changed.
    await page.waitForFunction("!document.body.textContent.includes('answer-canary')");
    const error = await waitForText(page, 'answered 500');
    expect(error).not.toContain('No errors recorded');
    expect(errors).toEqual([]);
    await page.browserContext().close();
  }, 60_000);

  test('he finds what waits for a receiver that doesn’t answer, and what failed', async () => {
    const { page, errors } = await signIn();
    await page.goto(`${origin}${BOARD}/queue/deliveries?status=delayed`);
    await waitForText(page, scene.paused.deliveryId, 'pausedUntil');
    await page.goto(`${origin}${BOARD}/queue/deliveries?status=failed`);
    await waitForText(page, scene.failed.deliveryId, 'schedule_exhausted');
    expect(errors).toEqual([]);
    await page.browserContext().close();
  }, 60_000);

  test('the board’s own page may change something, and a page of another site may not, although the browser would sign it in', async () => {
    const { page } = await signIn();
    await page.goto(`${origin}${BOARD}/`);
    const put = (url: string) =>
      page.evaluate(
        async (target) =>
          await fetch(target, { method: 'PUT', credentials: 'include' }).then(
            (answer) => answer.status,
            () => 'blocked',
          ),
        url,
      );
    await expect(put(`${origin}${BOARD}/api/queues/deliveries/pause`)).resolves.toBe(200);
    // A form needs nobody's leave to be sent anywhere, and takes the credentials along.
    const target = `${origin}${BOARD}/api/queues/deliveries/add`;
    await page.goto(`data:text/html,<form method="post" action="${target}"><button>Win</button></form>`);
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith('/add') && response.status() !== 401),
      page.click('button'),
    ]);
    expect(answer.status()).toBe(403);
    expect(await answer.text()).toContain('foreign_origin');
    await page.browserContext().close();
  }, 60_000);

  test('who doesn’t sign in sees nothing', async () => {
    const { page } = await openWindow();
    const seen: string[] = [];
    for (const path of ['/', `/queue/deliveries/${scene.delayed.deliveryId}`, '/api/queues']) {
      // Where there is nobody to ask for credentials, Chromium may not even show the answer.
      const answer = await page.goto(origin + BOARD + path).catch((error: unknown) => String(error));
      seen.push(typeof answer === 'string' ? answer : `${answer?.status()} ${await answer?.text()}`);
    }
    for (const text of seen) {
      expect(text).toMatch(/^401 |ERR_INVALID_AUTH_CREDENTIALS/);
      expect(text).not.toContain(scene.delayed.host);
    }
    await page.browserContext().close();
  }, 60_000);
});
