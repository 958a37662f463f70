import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'puppeteer-core';
import { startConsoleUser } from '../../support/console-user.ts';
import { basic, OPERATOR_ENV } from '../../support/operator-client.ts';
import { describeWithBrowser } from '../../support/describe-with-browser.ts';
import { startBrowser } from '../../support/start-browser.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';

jest.setTimeout(60_000);

/** A page of another origin, which shows the address behind its `?` in a frame. */
async function startEmbedder() {
  const server = createServer((req, res) => {
    const address = decodeURIComponent(req.url?.split('?')[1] ?? '');
    res
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<title>Platform</title><link rel="icon" href="data:," /><iframe src="${address}"></iframe>`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

describeWithBrowser('in a frame of another origin', () => {
  let friend: Awaited<ReturnType<typeof startEmbedder>>;
  let stranger: Awaited<ReturnType<typeof startEmbedder>>;
  let herald: Herald;
  let browser: Browser;
  let origin: string;
  beforeAll(async () => {
    [friend, stranger, browser] = await Promise.all([startEmbedder(), startEmbedder(), startBrowser()]);
    const CONSOLE_BRAND = JSON.stringify({
      name: 'Acme <&> Söhne',
      accent: '#0b5cad',
      support: 'https://acme.example/',
    });
    const env = { ...OPERATOR_ENV, CONSOLE_FRAME_ANCESTORS: friend.origin, CONSOLE_BRAND };
    herald = await startHerald({ workers: 0, env });
    origin = herald.apis[0]?.origin ?? '';
  });
  afterAll(async () => {
    await browser.close();
    await herald[Symbol.asyncDispose]();
    await friend[Symbol.asyncDispose]();
    await stranger[Symbol.asyncDispose]();
  });

  test('a portal link opens where CONSOLE_FRAME_ANCESTORS allows it, and nothing of it goes to that page', async () => {
    const workspace = await herald.createWorkspace();
    const { body } = await workspace.request('POST', '/api/public/portal-links', { body: { readOnly: true } });
    const { url } = body as { url: string };
    await using user = await startConsoleUser(browser);
    await user.open(`${friend.origin}/?${encodeURIComponent(origin + url)}`);
    const frame = await user.page.waitForFrame((each) => each.url() === `${origin}/console/receivers`);
    await frame.waitForSelector('::-p-text(No receiver yet)');
    await frame.waitForSelector('::-p-text(read-only link)');
    // The platform's own look.
    await frame.waitForSelector('.brand ::-p-text(Acme <&> Söhne)');
    const accent = "getComputedStyle(document.documentElement).getPropertyValue('--accent')";
    expect(await frame.evaluate(accent)).toContain('#0b5cad');
    await frame.locator('::-p-aria([name="Help"][role="button"])').click();
    await frame.waitForSelector('a[href="https://acme.example/"]');
    expect(user.errors).toEqual([]);
    expect([...user.requested].sort()).toEqual([origin, friend.origin].sort());
  });

  test.each([
    { what: 'the console', page: '/console/receivers', from: () => stranger },
    { what: 'the pages of operators, which nobody may', page: '/admin', from: () => friend },
  ])('$what stays shut elsewhere', async ({ page, from }) => {
    await using user = await startConsoleUser(browser);
    await user.page.authenticate({ username: OPERATOR_ENV.OPERATOR_USER, password: OPERATOR_ENV.OPERATOR_PASSWORD });
    await user.open(`${from().origin}/?${encodeURIComponent(origin + page)}`);
    await user.page.waitForFrame((each) => each.url().startsWith('chrome-error:'));
    expect(user.errors.join('\n')).toMatch(/frame-ancestors/);
  });

  test('the headers allow this origin alone, nothing inline, and files that never change are kept for ever', async () => {
    const page = await fetch(`${origin}/console/receivers/wh_1?status=failed`);
    const html = await page.text();
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(page.status).toBe(200);
    expect(page.headers.get('cache-control')).toBe('no-cache');
    expect(page.headers.get('x-frame-options')).toBeNull();
    expect(page.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    expect(policy.split(';')).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "base-uri 'none'", "form-action 'none'"]),
    );
    expect(policy).toContain(`frame-ancestors ${friend.origin}`);
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(html).not.toMatch(/<script(?![^>]*src=)|style=|\son\w+=/);
    const [, script = ''] = /src="(\/console\/assets\/[^"]+\.js)"/.exec(html) ?? [];
    for (const encoding of ['br', 'gzip', 'identity']) {
      const asset = await fetch(origin + script, { headers: { 'accept-encoding': encoding } });
      expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(asset.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding);
      expect(asset.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
      expect(await asset.text()).toContain('herald.token');
    }
    const admin = await fetch(`${origin}/admin/failed`, {
      headers: basic(OPERATOR_ENV.OPERATOR_USER, OPERATOR_ENV.OPERATOR_PASSWORD),
    });
    expect(admin.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(admin.headers.get('x-frame-options')).toBe('DENY');
    expect(admin.headers.get('cross-origin-resource-policy')).toBe('same-origin');
  });

  test.each([
    ['GET', '/admin', 401],
    ['GET', '/admin/failed', 401],
    ['GET', '/console/assets/index-none.js', 404],
    ['POST', '/console/receivers', 405],
  ])('%s %s without a sign-in is answered with %d', async (method, path, status) => {
    expect((await fetch(origin + path, { method })).status).toBe(status);
  });
});
