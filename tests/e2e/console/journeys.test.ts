import { verify, verifyStandard } from '@herald/receiver';
import { freePort, waitFor, type Receiver } from '@herald/test-kit';
import type { Browser } from 'puppeteer-core';
import { startConsoleUser, type ConsoleUser, type Way } from '../../support/console-user.ts';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { describeWithBrowser } from '../../support/describe-with-browser.ts';
import { sized } from '../../support/sized.ts';
import { startBrowser } from '../../support/start-browser.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { checkpoint, START } from '../../support/reports.ts';
import { emitMany } from '../fleet/fleet.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';

jest.setTimeout(90_000);

const FINDER = 'Find by id, host, description, event, error or status';
/** A phone is touched, and a keyboard stands before a wide screen. */
const USUAL_WIDTH: Readonly<Record<Way, number>> = { pointer: 390, keyboard: 1_440 };
type Seat = { readonly way: Way; readonly width: number };
const SEATS: readonly Seat[] = (['pointer', 'keyboard'] as const).flatMap((way) => [
  { way, width: 390 },
  { way, width: 1_440 },
]);
/** Each way at each width; in `npm test` one: half of the journeys go by keyboard. */
const seatsOf = (way: Way) => sized<readonly Seat[]>([{ way, width: USUAL_WIDTH[way] }], SEATS);

describeWithBrowser('a customer with the console', () => {
  let herald: Herald;
  let browser: Browser;
  let origin: string;
  beforeAll(async () => {
    // One test looks at what waits behind a send that hangs.
    const env = { RETRY_SCHEDULE: '', DELIVERY_TIMEOUT: '60s' };
    [herald, browser] = await Promise.all([startHerald({ env }), startBrowser()]);
    origin = herald.apis[0]?.origin ?? '';
  });
  afterAll(async () => {
    await browser.close();
    await herald[Symbol.asyncDispose]();
  });

  /** Opens a page with a portal link of the workspace. */
  async function openConsole(
    workspace: WorkspaceClient,
    path: string,
    way: Way,
    { width = USUAL_WIDTH[way], readOnly = false } = {},
  ): Promise<ConsoleUser> {
    const answer = await workspace.request('POST', '/api/public/portal-links', { body: { readOnly } });
    const { token } = answer.body as { token: string };
    const user = await startConsoleUser(browser, way);
    await user.page.setViewport({ width, height: 900 });
    for (const name of ['clipboard-read', 'clipboard-write'] as const) {
      const permission = { permission: { name }, state: 'granted' } as const;
      await user.page.browserContext().setPermission(origin, permission);
    }
    await user.open(`${origin}${path}#token=${token}`);
    return user;
  }

  /** What may have gone wrong, and who was asked for anything. */
  const behaviorOf = ({ errors, requested }: ConsoleUser) => ({ errors, requested: [...requested] });
  /** Nothing went wrong, and nobody else was asked. */
  const quiet = () => ({ errors: [], requested: [origin] });

  const readClipboard = async (user: ConsoleUser) => String(await user.page.evaluate('navigator.clipboard.readText()'));

  /** Makes deliveries that fail, until the receiver is mended. */
  async function startFailing(count: number) {
    let isMended = false;
    const receiver = await herald.startReceiver(() =>
      isMended ? { status: 200, body: 'thank you' } : { status: 503, body: 'out of <b>order</b>' },
    );
    const workspace = await herald.createWorkspace();
    const registered = await workspace.registerReceiver({ url: receiver.url });
    const client = createDeliveryClient(workspace);
    const ids: string[] = [];
    for (let index = 0; index < count; index++) ids.push((await client.emit()).to(registered));
    for (const id of ids) await client.waitForStatus(id, 'failed');
    const mend = () => {
      isMended = true;
    };
    return { workspace, registered, receiver, client, ids, mend };
  }

  test.each(seatsOf('keyboard'))(
    'who came by a link signs out, and nobody on the same computer comes in again ($way, $width px)',
    async ({ way, ...seat }) => {
      const workspace = await herald.createWorkspace();
      await using user = await openConsole(workspace, '/console', way, seat);
      await user.sees('No receiver yet', workspace.id);
      await user.press('button', 'Sign out');
      await user.sees('Open the console');
      expect(await user.page.evaluate('sessionStorage.length')).toBe(0);
      await user.page.reload();
      await user.sees('Open the console');
      expect(await user.page.evaluate('document.body.innerText')).not.toContain(workspace.id);
      expect(behaviorOf(user)).toEqual(quiet());
    },
  );

  test.each(seatsOf('pointer'))(
    'adds a receiver, copies its secret, and sends it a test event that the secret verifies ($way, $width px)',
    async ({ way, ...seat }) => {
      const receiver = await herald.startReceiver([{ status: 200, body: 'well received' }]);
      const workspace = await herald.createWorkspace();
      await using user = await openConsole(workspace, '/console', way, seat);
      await user.sees('No receiver yet');
      expect(user.page.url()).toBe(`${origin}/console/receivers`);
      await user.sees('Send it a test event', 'createExpressHandler');
      await user.type('URL', 'http://example.com/hook');
      await user.sees('The URL must start with https://.');
      await user.type('URL', 'https://10.0.0.1/hook');
      await user.press('button', 'Add receiver');
      await user.sees('10.0.0.1');
      // As it is pasted.
      await user.type('URL', ` ${receiver.url} `);
      await user.type('Description', 'Mine');
      await user.press('button', 'Add receiver');
      const shown = await user.sees('This is the only time that it is shown', 'createExpressHandler');
      // Neither Escape nor its repeat, which a browser doesn't ask about, closes what was not copied.
      await user.page.keyboard.press('Escape');
      await user.page.keyboard.press('Escape');
      await user.sees('You have not copied the secret', 'This is the only time that it is shown');
      await user.press('button', 'Copy the secret');
      await user.sees('Copied the signing secret.');
      await user.seesNot('You have not copied the secret');
      const secret = await readClipboard(user);
      expect(secret).toMatch(/^whsec_/);
      expect(shown).toContain(secret);
      await (await user.page.waitForSelector('dialog[open] ::-p-aria([name="Python"])'))?.click();
      await user.sees('asgi_app', 'It needs the kit for Python');
      await user.press('button', 'I have kept it');
      await user.seesNot(secret);
      // The first test is offered at once.
      await user.sees('Mine', 'No delivery yet', 'It is signed like a real one');
      await user.choose('Event', 'task.done');
      await user.press('button', 'Send');
      await user.sees('Delivered: it answered 200 OK', 'well received');
      const request = await receiver.next();
      expect(verify(request.rawBody, request.headers, secret)).toBe(true);
      expect(request.headers['x-service-event']).toBe('task.done');
      await user.page.keyboard.press('Escape');
      await user.sees('Tested', ': 200; no event yet', 'The next event of a Task comes by itself.');
      await createDeliveryClient(workspace).emit();
      await receiver.next();
      await user.sees('The first event has arrived', 'See it under Deliveries');
      await user.press('button', 'Add receiver');
      await user.type('URL', receiver.url);
      await user.sees('Another receiver has this URL.');
      await user.type('URL', `${receiver.url}2`);
      await user.seesNot('Another receiver has this URL.');
      await user.page.keyboard.press('Escape');
      await user.seesNot('For people. Optional.');
      await user.press('link', new URL(receiver.url).host + '/hook');
      await user.sees('Healthy', 'The last delivery arrived');
      // The browser itself reports the url that was refused.
      expect(user.errors.splice(0)).toEqual([expect.stringContaining('422')]);
      expect(behaviorOf(user)).toEqual(quiet());
    },
  );

  test.each(seatsOf('keyboard'))(
    'finds why a delivery failed, and redelivers it ($way, $width px)',
    async ({ way, ...seat }) => {
      const { workspace, registered, ids, mend } = await startFailing(2);
      await using user = await openConsole(workspace, '/console/receivers', way, seat);
      await user.sees('Failing for');
      await user.press('link', new URL(registered.url).host + '/hook');
      await user.choose('Status', 'failed');
      await waitFor('the filter to be in the address', () => user.page.url().includes('status=failed'));
      await user.press('link', 'task.done');
      await user.sees(
        'Every try of the schedule failed.',
        '503 Service Unavailable',
        'Your endpoint says that it is not available now.',
        'out of <b>order</b>',
        'sent, never shown',
      );
      await user.page.emulateTimezone('Asia/Tokyo');
      await user.press('button', 'Times in UTC');
      await user.sees(' UTC');
      await user.press('button', 'Times in UTC');
      await user.sees('GMT+9');
      await user.press('button', 'Copy as curl');
      await user.sees('Copied the request as curl.');
      const curl = await readClipboard(user);
      const [id = ''] = ids.filter((each) => user.page.url().endsWith(each));
      expect(curl).toMatch(/^curl -sS -X POST 'https:\/\/127\.0\.0\.1:\d+\/hook' \\\n/);
      expect(curl).toContain(`-H 'webhook-id: ${id}'`);
      mend();
      await user.press('button', 'Redeliver');
      await user.sees('It arrived at attempt 2', '200 OK', 'thank you');
      expect(behaviorOf(user)).toEqual(quiet());
    },
  );

  test('reads why a receiver fails also where all that is new waits without an attempt', async () => {
    const workspace = await herald.createWorkspace();
    const silent = await workspace.registerReceiver({ url: `https://127.0.0.1:${await freePort()}/hook` });
    await emitMany(herald, workspace, 60);
    await createDeliveryClient(workspace).waitForReceiver(silent, ({ health }) => health.state === 'paused');
    await using user = await openConsole(workspace, '/console/receivers', 'pointer');
    await user.sees('Gives no answer', 'connection_refused');
    await user.press('link', `${new URL(silent.url).host}/hook`);
    await user.sees('The next such probe', 'connection_refused', 'waits: no answer');
    expect(behaviorOf(user)).toEqual(quiet());
  });

  test.each(seatsOf('pointer'))(
    'selects many deliveries, and redelivers them at once ($way, $width px)',
    async ({ way, ...seat }) => {
      const { workspace, registered, ids, client, mend } = await startFailing(3);
      const [left = '', ...chosen] = ids;
      mend();
      await using user = await openConsole(workspace, `/console/receivers/${registered.id}`, way, seat);
      // A narrow list has no head: there the bar selects all.
      if (seat.width < 720) {
        await user.press('checkbox', `Select ${left}`);
        await user.press('button', 'Select all shown');
      } else await user.press('checkbox', 'Select all shown');
      await user.sees('3 selected');
      await user.press('button', 'Unselect');
      // The newest is on top: with Shift, all between the two that are clicked.
      await user.press('checkbox', `Select ${chosen[1]}`);
      // The bar lies over the end of the list, which can be scrolled out from under it.
      await user.page.evaluate('scrollTo(0, document.body.scrollHeight)');
      await user.page.keyboard.down('Shift');
      await user.press('checkbox', `Select ${left}`);
      await user.page.keyboard.up('Shift');
      await user.sees('3 selected');
      await user.press('checkbox', `Select ${left}`);
      await user.sees('2 selected');
      await user.press('button', 'Redeliver');
      await user.sees('2 deliveries get one more attempt now.');
      await user.seesNot('2 selected');
      for (const id of chosen) await client.waitForStatus(id, 'delivered');
      expect(await client.read(left)).toMatchObject({ status: 'failed', tries: 1 });
      expect(behaviorOf(user)).toEqual(quiet());
    },
  );

  test.each(seatsOf('keyboard'))(
    'replays a time range, stops a replay, and sees one to its end ($way, $width px)',
    async ({ way, ...seat }) => {
      const { workspace, registered, ids, client, mend } = await startFailing(3);
      const [worker] = herald.workers.filter(({ process }) => !process.hasExited());
      await worker?.stop();
      await using user = await openConsole(workspace, `/console/receivers/${registered.id}`, way, seat);
      const replay = async () => {
        await user.press('button', 'Replay');
        await user.sees('Accepted since', '3 deliveries will be sent.');
        // The one of the dialog.
        await user.page.waitForSelector('dialog[open]');
        if (way === 'pointer') await user.page.locator('dialog button[type=submit]').click();
        else await user.page.keyboard.press('Enter');
      };
      await replay();
      await user.sees('Replay running', 'of 3 looked at');
      await user.press('button', 'Stop');
      await user.sees('Replay stopped');
      mend();
      await herald.startWorker();
      // The service says so of a workspace that is full, which no test here fills.
      await user.page.setRequestInterception(true);
      let isFull = true;
      user.page.on('request', (request) => {
        if (!isFull || request.method() !== 'GET' || !request.url().includes('/replays/')) {
          void request.continue();
          return;
        }
        const waiting = { code: 'workspace_full', detail: 'the workspace has too much pending' };
        const body = JSON.stringify({
          id: 'rpl_0',
          statuses: [],
          status: 'running',
          seen: 0,
          total: 3,
          replayed: 0,
          waiting,
        });
        void request.respond({ status: 200, contentType: 'application/json', body });
      });
      await replay();
      await user.sees('Replay running', 'It waits: the workspace has too much pending');
      isFull = false;
      await user.sees('Replay done', '3 deliveries are sent again');
      for (const id of ids) await client.waitForStatus(id, 'delivered');
      expect(behaviorOf(user)).toEqual(quiet());
    },
  );

  test.each(seatsOf('pointer'))(
    'rotates a secret, and the next delivery has signatures of both ($way, $width px)',
    async ({ way, ...seat }) => {
      const receiver = await herald.startReceiver();
      const workspace = await herald.createWorkspace();
      const registered = await workspace.registerReceiver({ url: receiver.url });
      await using user = await openConsole(workspace, `/console/receivers/${registered.id}`, way, seat);
      await user.press('button', 'Rotate secret');
      await user.sees('The old secret');
      await user.press('button', 'Rotate');
      await user.sees('Choose one: it decides when the old secret ends.');
      await user.press('radio', 'My receiver still uses it');
      await user.sees('Until the overlap ends');
      await user.press('button', 'Rotate');
      await user.sees('The old secret stays in force until');
      await user.press('button', 'Copy the secret');
      await user.sees('Copied the signing secret.');
      const secret = await readClipboard(user);
      await createDeliveryClient(workspace).emit();
      const request: Awaited<ReturnType<Receiver['next']>> = await receiver.next();
      expect(verify(request.rawBody, request.headers, registered.secret)).toBe(true);
      for (const each of [secret, registered.secret]) {
        expect(verifyStandard(request.rawBody, request.headers, each)).toBe(true);
      }
      expect(secret).not.toBe(registered.secret);
      await user.press('button', 'I have kept it');
      await user.sees('The signing secret was rotated. The old one stays in force, and ends in 23 h');
      await user.press('button', 'End now');
      await user.sees('The old secret has ended.');
      await user.seesNot('The signing secret was rotated.');
      await createDeliveryClient(workspace).emit();
      const later: typeof request = await receiver.next();
      expect(verify(later.rawBody, later.headers, secret)).toBe(true);
      expect(verifyStandard(later.rawBody, later.headers, registered.secret)).toBe(false);
      expect(behaviorOf(user)).toEqual(quiet());
    },
  );

  test.each(seatsOf('keyboard'))(
    'edits, disables, enables and removes a receiver ($way, $width px)',
    async ({ way, ...seat }) => {
      const workspace = await herald.createWorkspace();
      const receiver = await herald.startReceiver();
      const { id } = await workspace.registerReceiver({ url: receiver.url });
      const client = createDeliveryClient(workspace);
      await using user = await openConsole(workspace, `/console/receivers/${id}`, way, seat);
      await user.press('button', 'Edit');
      await user.type('Description', 'Billing');
      await user.press('button', 'Save');
      await user.sees('Saved.', 'Billing');
      await user.press('button', 'Disable');
      await user.sees('Pending deliveries are canceled');
      if (way === 'pointer') await user.page.locator('dialog .button-bad').click();
      else await user.press('button', 'Disable');
      await client.waitForReceiver({ id }, ({ enabled }) => !enabled);
      const missed = (await client.emit()).to({ id });
      await user.press('button', 'Enable');
      await user.sees('What it missed before');
      expect(await client.read(missed)).toMatchObject({ status: 'canceled', reason: 'receiver_disabled' });
      await user.press('button', 'Replay what it missed…');
      await user.sees('one delivery will be sent.');
      if (way === 'pointer') await user.page.locator('dialog button[type=submit]').click();
      else await user.page.keyboard.press('Enter');
      await user.sees('Replay done');
      await client.waitForStatus(missed, 'delivered');
      await user.press('button', 'Remove');
      await user.type(`Type ${new URL(receiver.url).host} to confirm`, new URL(receiver.url).host);
      if (way === 'pointer') await user.page.locator('dialog .button-bad').click();
      else await user.page.keyboard.press('Enter');
      await user.sees('Removed.', 'No receiver yet');
      expect((await workspace.listReceivers()).webhooks).toEqual([]);
      expect(behaviorOf(user)).toEqual(quiet());
    },
  );

  test.each(seatsOf('pointer'))(
    'sets order, rate, tries and headers, and is told which headers a new host drops ($way, $width px)',
    async ({ way, ...seat }) => {
      const workspace = await herald.createWorkspace();
      const receiver = await herald.startReceiver();
      const { id } = await workspace.registerReceiver({ url: receiver.url });
      const read = async () => (await workspace.request('GET', `/api/public/webhooks/${id}`)).body;
      await using user = await openConsole(workspace, `/console/receivers/${id}`, way, seat);
      await user.press('button', 'Edit');
      await user.seesNot('Most deliveries per second');
      await user.press('DisclosureTriangle', 'Advanced: order, rate, tries, headers');
      await user.press('checkbox', 'Send the events of each Task one after the other');
      await user.type('Longest wait for a turn', '30m');
      await user.type('Most deliveries per second', '5000');
      await user.type('Hours to try', '48');
      await user.type('Headers of your own', 'authorization: Bearer canary\nhost: evil.example');
      await user.press('button', 'Save');
      await user.sees('must be a whole number from 1 to 1000', 'Headers of your own: host must not be given');
      await user.type('Most deliveries per second', '50');
      await user.type('Headers of your own', 'authorization: Bearer canary\nx-tenant: 7');
      await user.press('button', 'Save');
      const shown = await user.sees('Saved.', 'an event waits at most 30m', '50 per second', 'for 48 hours');
      expect(shown).toContain('authorization, x-tenant');
      expect(await user.page.content()).not.toContain('canary');
      expect(await read()).toMatchObject({
        ordering: 'task',
        orderingTimeout: '30m',
        rateLimit: { perSecond: 50 },
        maxRetryHours: 48,
        headerNames: ['authorization', 'x-tenant'],
      });
      const other = await herald.startReceiver();
      await user.press('button', 'Edit');
      await user.seesNot('has another origin');
      await user.type('URL', other.url);
      await user.sees('The new URL has another origin. Its headers are removed when you save');
      await user.press('button', 'Save');
      await user.seesNot('authorization, x-tenant');
      expect(await read()).not.toHaveProperty('headerNames');
      expect(await read()).toMatchObject({ url: other.url, ordering: 'task', rateLimit: { perSecond: 50 } });
      // The browser itself reports the fields that were refused.
      expect(user.errors.splice(0)).toEqual([expect.stringContaining('422')]);
      expect(behaviorOf(user)).toEqual(quiet());
    },
  );

  test('sees what a delivery waits for, and why one was sent before its turn', async () => {
    const receiver = await herald.startReceiver(['hang', 200]);
    const workspace = await herald.createWorkspace();
    const registered = await workspace.registerReceiver({ url: receiver.url, ordering: 'task' });
    const client = createDeliveryClient(workspace);
    const task = await workspace.createTask();
    await herald.executor.report(task.id, START, checkpoint('cp_1'), checkpoint('cp_2'));
    await receiver.next();
    const { deliveries } = await client.list(registered);
    const [second = '', first = ''] = deliveries.map((delivery) => delivery.id);
    await using user = await openConsole(workspace, `/console/receivers/${registered.id}`, 'keyboard');
    await user.sees('after dlv_');
    await user.type(FINDER, (await client.read(first)).transitionId, 'combobox');
    await user.page.keyboard.press('Enter');
    await waitFor('the page of its Task', () => user.page.url().endsWith(task.id));
    await user.go(`/console/receivers/${registered.id}`);
    await user.press('link', `dlv_…${first.slice(-6)}`);
    await waitFor('the delivery before it', () => user.page.url().endsWith(first));
    await user.go(`/console/deliveries/${second}`);
    await user.sees('It waits for its turn.', 'At the latest it goes in 23 h', first);
    await user.press('button', 'Redeliver');
    await user.sees('It was sent before its turn', 'x-service-ordering');
    expect(behaviorOf(user)).toEqual(quiet());
  });

  test('goes from the id of a Task to the deliveries of each transition, that of the callback included', async () => {
    const receiver = await herald.startReceiver();
    const workspace = await herald.createWorkspace();
    await workspace.registerReceiver({ url: receiver.url });
    const emitted = await createDeliveryClient(workspace).emit({ callback: { url: receiver.url } });
    await using user = await openConsole(workspace, '/console/receivers', 'keyboard');
    await user.sees('Healthy');
    await user.page.keyboard.press('/');
    await user.page.keyboard.sendCharacter(emitted.taskId);
    await user.page.keyboard.press('Enter');
    await user.sees('task.done', 'callback of the Task', 'Delivered');
    await user.page.keyboard.press('j');
    await user.page.keyboard.press('Enter');
    await user.sees('It arrived at the first attempt');
    await user.page.keyboard.press('?');
    await user.sees('Next and previous row');
    await user.page.keyboard.press('Escape');
    await user.seesNot('Next and previous row');
    expect(behaviorOf(user)).toEqual(quiet());
  });

  test.each(seatsOf('keyboard'))(
    'finds what failed at all receivers, by filters and by search, and sends all that match again ($way, $width px)',
    async ({ way, ...seat }) => {
      const { workspace, registered, ids, client, mend } = await startFailing(2);
      const other = await herald.startReceiver();
      const healthy = await workspace.registerReceiver({ url: `${other.origin}/billing`, description: 'The ledger' });
      const both = await client.emit({ callback: { url: other.url } });
      await client.waitForStatus(both.to(healthy), 'delivered');
      await client.waitForStatus(both.to(registered), 'failed');
      await using user = await openConsole(workspace, '/console/receivers', way, seat);
      await user.press('link', 'Deliveries');
      await user.sees('All deliveries', '/billing', 'The ledger', 'callback of the Task');
      await user.choose('Last answer', '5xx');
      await user.seesNot('callback of the Task');
      expect(user.page.url()).toContain('http=5xx');
      await user.type(FINDER, 'ledg', 'combobox');
      await user.sees('receiver');
      await user.page.keyboard.press('Enter');
      await waitFor('the receiver', () => user.page.url().endsWith(`/console/receivers/${healthy.id}`));
      await user.type(FINDER, 'every try', 'combobox');
      await user.sees('Every try failed, schedule_exhausted');
      await user.page.keyboard.press('Enter');
      await waitFor('its filter', () => user.page.url().endsWith('/console/deliveries?error=schedule_exhausted'));
      await user.sees('Every try failed');
      mend();
      await user.press('button', 'Redeliver all that match…');
      await user.sees('3 deliveries to one receiver will be sent.');
      if (way === 'pointer') await user.page.locator('dialog button[type=submit]').click();
      else await user.page.keyboard.press('Enter');
      await user.sees('Replay done', '3 deliveries are sent again');
      for (const id of ids) await client.waitForStatus(id, 'delivered');
      await user.type(FINDER, 'nothing like this', 'combobox');
      await user.page.keyboard.press('Enter');
      await user.page.waitForSelector('.finder [role=alert]'); // beside the field
      await user.sees('Nothing has this id, host');
      expect(behaviorOf(user)).toEqual(quiet());
    },
  );

  test('a second tab opens what is linked, one that waits goes on when a link opens, and all forget together', async () => {
    const { workspace, ids } = await startFailing(1);
    const path = `/console/deliveries/${ids[0]}`;
    await using user = await startConsoleUser(browser);
    await user.open(origin + path);
    await user.sees('Come through your platform');
    const answer = await workspace.request('POST', '/api/public/portal-links', { body: {} });
    const link = `${origin}/console#token=${(answer.body as { token: string }).token}`;
    const second = await user.page.browserContext().newPage();
    await second.goto(link);
    await user.sees('503 Service Unavailable');
    expect(user.page.url()).toBe(origin + path);
    const third = await user.page.browserContext().newPage();
    await third.goto(origin + path);
    const shows = async (page: typeof third, text: string) => {
      await waitFor(`the tab to show ${text}`, async () =>
        String(await page.evaluate('document.body.innerText')).includes(text),
      );
    };
    await shows(third, '503 Service Unavailable');
    expect(await third.evaluate('localStorage.length')).toBe(0);
    await third.locator('::-p-aria([name="Sign out"][role="button"])').click();
    for (const page of [third, second, user.page]) await shows(page, 'Open the console');
    // The same tab goes to the platform and comes back: at the page that was wanted.
    await user.open('about:blank');
    await user.open(origin + path);
    await user.sees('Come through your platform');
    await user.open(link);
    await user.sees('503 Service Unavailable');
    expect(behaviorOf(user)).toEqual(quiet());
  });

  test('new deliveries are announced on top, and move no row until they are asked for', async () => {
    const receiver = await herald.startReceiver();
    const workspace = await herald.createWorkspace();
    const registered = await workspace.registerReceiver({ url: receiver.url });
    const client = createDeliveryClient(workspace);
    const first = await client.emit();
    await client.waitForStatus(first.to(registered), 'delivered');
    await using user = await openConsole(workspace, `/console/receivers/${registered.id}`, 'pointer');
    const rows = async () =>
      (await user.page.evaluate(
        `[...document.querySelectorAll('[data-row]')].map((link) => link.getAttribute('href'))`,
      )) as string[];
    await waitFor('the row', async () => (await rows()).length === 1);
    const second = await client.emit();
    const third = await client.emit();
    await user.sees('2 new deliveries');
    expect(await rows()).toEqual([`/console/deliveries/${first.to(registered)}`]);
    await user.page.locator('.new-rows').click();
    await waitFor('the rows', async () => (await rows()).length === 3);
    expect(await rows()).toEqual([third, second, first].map((each) => `/console/deliveries/${each.to(registered)}`));
    expect(behaviorOf(user)).toEqual(quiet());
  });

  test('who may only read sees no button that changes something', async () => {
    const { workspace, registered, ids } = await startFailing(1);
    for (const path of ['receivers', `receivers/${registered.id}`, `deliveries/${ids[0]}`]) {
      await using user = await openConsole(workspace, `/console/${path}`, 'pointer', { readOnly: true });
      const shown = await user.sees('read-only link', '503');
      expect(shown).not.toMatch(/Add receiver|Send test event|Rotate|Remove|Redeliver$/m);
      expect(behaviorOf(user)).toEqual(quiet());
    }
  });

  test('what another workspace owns is not found, and a link that has ended says how to get another', async () => {
    const { ids } = await startFailing(1);
    const workspace = await herald.createWorkspace();
    await using stranger = await openConsole(workspace, `/console/deliveries/${ids[0]}`, 'pointer');
    await stranger.sees('Check the id');
    expect(stranger.errors.filter((error) => !error.includes('404'))).toEqual([]);
    await using user = await startConsoleUser(browser);
    await user.open(`${origin}/console/receivers#token=hrlp_${'a'.repeat(32)}`);
    await user.sees('This link has ended', 'Open the console again from your platform’s pages');
    expect(user.page.url()).toBe(`${origin}/console/receivers`);
    expect(user.errors.filter((error) => !error.includes('401'))).toEqual([]);
  });

  test('while the service can’t be reached the last data stays, with its age, and goes on by itself', async () => {
    const { workspace, ids } = await startFailing(1);
    await using user = await openConsole(workspace, `/console/deliveries/${ids[0]}`, 'pointer');
    await user.sees('503 Service Unavailable');
    await user.page.setOfflineMode(true);
    await user.sees('As of', 'the service doesn’t answer, trying again', '503 Service Unavailable');
    await user.page.setOfflineMode(false);
    await user.seesNot('the service doesn’t answer');
    await user.sees('503 Service Unavailable');
    expect(user.errors.filter((error) => !error.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([]);
  });

  test('a key with too many requests reads more slowly, and says so beside the data that it has', async () => {
    const { workspace, ids } = await startFailing(1);
    await using user = await openConsole(workspace, `/console/deliveries/${ids[0]}`, 'pointer');
    await user.sees('503 Service Unavailable');
    let isLimited = true;
    await user.page.setRequestInterception(true);
    user.page.on('request', (request) => {
      if (!isLimited) {
        void request.continue();
        return;
      }
      void request.respond({
        status: 429,
        headers: { 'retry-after': '7' },
        contentType: 'application/problem+json',
        body: JSON.stringify({ status: 429, code: 'rate_limited', detail: 'too many requests' }),
      });
    });
    await user.sees('As of', 'too many requests with this key, reading more slowly', '503 Service Unavailable');
    isLimited = false;
    await user.seesNot('reading more slowly');
    expect(user.errors.filter((error) => !error.includes('429'))).toEqual([]);
  });

  test('says in the browser why a signature doesn’t hold, and asks nobody', async () => {
    const receiver = await herald.startReceiver();
    const workspace = await herald.createWorkspace();
    const { id, secret } = await workspace.registerReceiver({ url: receiver.url });
    await workspace.sendTest(id);
    const { headers, rawBody } = await receiver.next();
    await using user = await openConsole(workspace, '/console/verify', 'keyboard');
    await user.sees('it sends nothing');
    const before: string[] = [];
    user.page.on('request', (request) => {
      if (!request.url().includes('/access')) before.push(request.url());
    });
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    await user.type('Headers', lines.join('\n'));
    await user.type('Body', rawBody.toString());
    await user.type('Signing secret', secret);
    await user.press('button', 'Verify');
    await user.sees('The signature holds.', 'Herald signed this body with this secret');
    await user.type('Body', `${rawBody.toString()}\n`);
    await user.press('button', 'Verify');
    await user.sees('The signature doesn’t hold.', 'what you pasted has one more than what was signed');
    expect(before).toEqual([]);
    // Of an attempt, Herald knows all but the secret.
    await user.go(`/console/deliveries/${headers['x-service-delivery']}`);
    await user.press('link', 'Verify this one');
    await user.type('Signing secret', 'whsec_' + 'a'.repeat(43));
    await user.press('button', 'Verify');
    await user.sees('It was signed with another secret.');
    await user.type('Signing secret', secret);
    await user.press('button', 'Verify');
    const shown = await user.sees('It was signed with this secret.');
    for (const name of ['x-service-signature', 'webhook-signature'])
      expect(shown).toContain(`${name}: ${headers[name]}`);
    expect(behaviorOf(user)).toEqual(quiet());
  });
});
