import type { Browser } from 'puppeteer-core';
import { startConsoleUser, type ConsoleUser } from '../../support/console-user.ts';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { checkpoint, START } from '../../support/reports.ts';
import { describeWithBrowser } from '../../support/describe-with-browser.ts';
import { startBrowser } from '../../support/start-browser.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';
import { HOSTILE_BYTES, HOSTILE_PAYLOADS } from './hostile-payloads.ts';

jest.setTimeout(120_000);

const ALL: readonly (string | Buffer)[] = [...HOSTILE_PAYLOADS, ...HOSTILE_BYTES];
const SUMMARY_CHARACTERS = 900;

/** What the page must never have, whatever somebody writes. Run in the page. */
const LOOK = `(() => {
  const content = document.getElementById('content');
  const unsafe = 'script, img, iframe, object, embed, style, link, base, meta, form[action], video, [style], a[href^="javascript"], a[href^="http"]';
  const wide = [...content.querySelectorAll('.foreign')].filter((each) => each.getBoundingClientRect().right > innerWidth + 1);
  return {
    ran: 'ran' in globalThis && globalThis.ran !== undefined,
    polluted: ({}).ran !== undefined,
    elements: [...content.querySelectorAll(unsafe)].map((each) => each.outerHTML.slice(0, 100)),
    unseen: /[\\u0000-\\u0008\\u000b-\\u001f\\u200b-\\u200f\\u202a-\\u202e\\u2028\\u2029\\u2060-\\u2069\\ufeff]/.exec(content.textContent)?.[0].codePointAt(0),
    tooWide: document.documentElement.scrollWidth > innerWidth,
    outside: wide.map((each) => each.textContent.slice(0, 40)),
  };
})()`;
const HARMLESS = { ran: false, polluted: false, elements: [], tooWide: false, outside: [] };

describeWithBrowser('what others write', () => {
  let herald: Herald;
  let browser: Browser;
  let origin: string;
  let workspace: WorkspaceClient;
  let user: ConsoleUser;
  beforeAll(async () => {
    [herald, browser] = await Promise.all([startHerald({ env: { RETRY_SCHEDULE: '' } }), startBrowser()]);
    origin = herald.apis[0]?.origin ?? '';
    workspace = await herald.createWorkspace();
    user = await startConsoleUser(browser);
    await user.page.setViewport({ width: 360, height: 700 });
    user.page.on('dialog', (dialog) => {
      user.errors.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await user.open(`${origin}/console/receivers#token=${workspace.key}`);
    await user.sees('No receiver yet');
  });
  afterAll(async () => {
    await user[Symbol.asyncDispose]();
    await browser.close();
    await herald[Symbol.asyncDispose]();
  });

  function expectQuiet() {
    expect({ errors: user.errors, requested: [...user.requested] }).toEqual({ errors: [], requested: [origin] });
  }

  test('there are at least forty ways to harm', () => {
    expect(new Set(ALL.map(String)).size).toBeGreaterThanOrEqual(40);
  });

  test('nothing of an answer, its headers or a body runs, leaves its box or stays unseen', async () => {
    const receiver = await herald.startReceiver((request) => {
      const { outcome } = JSON.parse(request.rawBody.toString()) as { outcome: { summary: string } };
      const body = ALL[Number(/^\d+/.exec(outcome.summary)?.[0])] ?? '';
      const ascii = String(body)
        .replaceAll(/[^\x20-\x7e]/g, '?')
        .slice(0, 300);
      return { status: 400, headers: { server: ascii, location: ascii, 'www-authenticate': ascii }, body };
    });
    const registered = await workspace.registerReceiver({
      url: `${receiver.origin}/?q=%3Cscript%3Eran()%3C/script%3E`,
    });
    const task = await workspace.createTask();
    const client = createDeliveryClient(workspace);
    const summaries = ALL.map((payload, index) =>
      `${index} ${String(payload)}`.slice(0, SUMMARY_CHARACTERS).toWellFormed(),
    );
    await herald.executor.report(
      task.id,
      START,
      ...summaries.map((summary, index) => checkpoint(`cp_${index}`, { outcome: { summary } })),
    );
    await herald.settled();
    const { deliveries } = await client.list(registered, { limit: '100' });
    expect(deliveries).toHaveLength(ALL.length);
    const harmed: unknown[] = [];
    for (const { id } of deliveries) {
      await user.go(`/console/deliveries/${id}`);
      const shown = await user.sees(id, '400 Bad Request', 'x-service-delivery');
      const look = await user.page.evaluate(LOOK);
      try {
        expect(look).toEqual(HARMLESS);
      } catch {
        harmed.push({ look, shown: shown.slice(0, 400) });
      }
    }
    expect(harmed).toEqual([]);
    for (const path of [`receivers/${registered.id}`, `tasks/${task.id}`]) {
      await user.go(`/console/${path}`);
      await user.sees('400');
      expect(await user.page.evaluate(LOOK)).toEqual(HARMLESS);
    }
    expectQuiet();
  });

  test('nor does anything of a description or a url', async () => {
    const other = await herald.createWorkspace();
    const ids: string[] = [];
    for (let index = 0; index < 10; index++) {
      const url = `https://127.0.0.1:2${index}00/${'%E2%80%AE'.repeat(index)}${'very-long'.repeat(index * 20)}?<>"`;
      const { id } = await other.registerReceiver({
        url: new URL(url).href.slice(0, 2_000).replace(/%[0-9A-F]?$/, ''),
      });
      ids.push(id);
    }
    await user.open('about:blank');
    await user.open(`${origin}/console/receivers#token=${other.key}`);
    for (let first = 0; first < HOSTILE_PAYLOADS.length; first += ids.length) {
      const some = HOSTILE_PAYLOADS.slice(first, first + ids.length);
      for (const [index, payload] of some.entries()) {
        // At most 1,024 characters, well-formed, without control characters.
        const description = `${first + index} ${payload}`.slice(0, 1_000).toWellFormed();
        const answer = await other.request('PATCH', `/api/public/webhooks/${ids[index]}`, { body: { description } });
        expect(answer.status).toBe(200);
      }
      await user.page.reload();
      await user.sees(`${first + some.length - 1} `);
      expect(await user.page.evaluate(LOOK)).toEqual(HARMLESS);
    }
    // The longest name, and every character that a name may have.
    const headers = { [`x-${'long'.repeat(900)}`]: 'canary', "!#$%&'*+-.^_`|~": 'canary' };
    const ordered = { headers, ordering: 'task', rateLimit: { perSecond: 1 } };
    const patched = await other.request('PATCH', `/api/public/webhooks/${ids[9]}`, { body: ordered });
    expect(patched.status).toBe(200);
    await user.go(`/console/receivers/${ids[9]}`);
    const shown = await user.sees('No delivery yet', 'longlong', "!#$%&'*+-.^_`|~");
    expect(shown).not.toContain('canary');
    expect(await user.page.evaluate(LOOK)).toEqual(HARMLESS);
    await user.press('button', 'Edit');
    await user.press('DisclosureTriangle', 'Advanced: order, rate, tries, headers');
    await user.sees('Replace the headers');
    expect(await user.page.evaluate(LOOK)).toEqual(HARMLESS);
    expect(
      await user.page.evaluate(
        "document.querySelector('dialog').scrollWidth - document.querySelector('dialog').clientWidth",
      ),
    ).toBe(0);
    expectQuiet();
  });
});
