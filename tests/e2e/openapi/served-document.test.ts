import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { patient } from '@herald/test-kit';
import type { Browser } from 'puppeteer-core';
import { document } from '../../support/openapi-document.ts';
import { ERROR_CODES } from '../../../apps/api/src/documents/pages.ts';
import { findAxeViolations } from '../../support/find-axe-violations.ts';
import { describeWithBrowser } from '../../support/describe-with-browser.ts';
import { startBrowser } from '../../support/start-browser.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ workers: 0 });
});
afterAll(() => herald[Symbol.asyncDispose]());

test('the document is served to anybody, and may be kept for a while', async () => {
  const { status, headers, body } = await herald.request('GET', '/openapi.json');
  expect(status).toBe(200);
  expect(headers['content-type']).toMatch(/^application\/json\b/);
  expect(headers['cache-control']).toBe('public, max-age=300');
  expect(body).toEqual(document);
});

test('the page loads what Herald serves itself, and runs nothing inline', async () => {
  const page = await herald.request('GET', '/docs');
  const policy = page.headers['content-security-policy'];
  expect(policy).toContain("default-src 'none';script-src 'self';style-src 'self';");
  expect(policy).not.toContain('unsafe');
  expect(page.text).not.toMatch(/<script(?![^>]* src=)|<style|style=|\bon\w+=|https?:/);
  const loaded = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '');
  expect(loaded.length).toBeGreaterThan(4);
  for (const path of loaded) {
    const { status, headers, text } = await herald.request('GET', path);
    expect({ path, status, isEmpty: text === '' }).toEqual({ path, status: 200, isEmpty: false });
    expect(headers['x-content-type-options']).toBe('nosniff');
  }
});

test('nothing else of the package that the page comes from is served', async () => {
  for (const path of ['/docs/index.html', '/docs/package.json', '/docs/..%2fpackage.json']) {
    expect((await herald.request('GET', path)).status).toBe(404);
  }
});

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

test.each([
  ['/', { links: expect.arrayContaining([{ path: '/docs/receiving', title: 'How to receive webhooks' }]) as unknown }],
  ['/errors', ERROR_CODES],
])('%s answers programs with JSON and a browser with a page, without a key', async (path, json) => {
  const [forPrograms, forBrowsers] = [
    await herald.request('GET', path),
    await herald.request('GET', path, { headers: BROWSER }),
  ];
  expect(forPrograms).toMatchObject({ status: 200, body: json });
  expect(forBrowsers.text).toMatch(/^<!doctype html>/);
  for (const { headers } of [forPrograms, forBrowsers]) {
    expect(headers).toMatchObject({ 'cache-control': 'public, max-age=300', vary: 'accept' });
  }
  expect(await herald.request('POST', path)).toMatchObject({ status: 405, headers: { 'cache-control': 'no-store' } });
});

test.each(['/', '/errors', '/docs/receiving'])(
  'the page %s runs nothing, and its links lead somewhere',
  async (path) => {
    const { text, headers } = await herald.request('GET', path, { headers: BROWSER });
    expect(headers['content-security-policy']).toMatch(/^default-src 'none';style-src 'self';img-src 'self';/);
    expect(text).not.toMatch(/<script|<style|style=|\bon\w+="/);
    const links = [...text.matchAll(/(?:src|href)="(\/[^"#]*)/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(4);
    const origin = herald.apis[0]?.origin ?? '';
    for (const link of new Set(links)) expect((await fetch(origin + link)).status).toBe(200);
  },
);

test('the kits are files, which the page for receivers names with the address that was asked', async () => {
  const origin = herald.apis[0]?.origin ?? '';
  const { text } = await herald.request('GET', '/docs/receiving', { headers: BROWSER });
  expect(text).not.toContain('{{origin}}');
  const addresses = [...text.matchAll(/(?:npm|pip) install (\S+)/g)].map(([, address = '']) => address);
  expect(addresses.filter((address) => !address.startsWith(`${origin}/kit/`))).toEqual([]);
  const folder = await mkdtemp(join(tmpdir(), 'herald-kit-'));
  for (const address of new Set(addresses)) {
    const answer = await fetch(address);
    expect(answer.headers.get('content-disposition')).toContain(basename(address));
    expect(answer.headers.get('content-type')).toBe(address.endsWith('.whl') ? 'application/zip' : 'application/gzip');
    await writeFile(join(folder, basename(address)), Buffer.from(await answer.arrayBuffer()));
  }
  const [wheel = '', tarball = ''] = (await readdir(folder)).sort((a) => (a.endsWith('.whl') ? -1 : 1));
  expect([wheel, tarball].map((name) => name.replace(/\d.*(?=\.(?:tgz|whl))/, '*'))).toEqual([
    'herald_receiver-*.whl',
    'herald-receiver-*.tgz',
  ]);
  // Python imports a wheel as it is. A machine without Python tests the rest.
  const env = { ...process.env, PYTHONPATH: join(folder, wheel) };
  const { status } = spawnSync('python3', ['-c', 'import herald_receiver.frameworks'], { env });
  expect([0, null]).toContain(status);
  expect(spawnSync('tar', ['-tzf', join(folder, tarball)], { encoding: 'utf8' }).stdout).toContain(
    'package/dist/index.js',
  );
  await rm(folder, { recursive: true });
  expect((await fetch(`${origin}/kit/..%2fmain.js`)).status).toBe(404);
});

describeWithBrowser('in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  }, 60_000);
  afterAll(() => browser.close());

  test.each(['/', '/errors', '/docs/receiving'])('the page %s fits into a narrow window', async (path) => {
    const page = await browser.newPage();
    await page.setViewport({ width: 360, height: 740 });
    await page.goto((herald.apis[0]?.origin ?? '') + path);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(await findAxeViolations(page)).toEqual([]);
  });

  test('the API page fits into a narrow window, and is dark where its reader asks for it, who pastes a key and tries an operation without a breach of policy', async () => {
    const workspace = await herald.createWorkspace();
    const origin = herald.apis[0]?.origin ?? '';
    const page = await browser.newPage();
    page.setDefaultTimeout(patient(30_000));
    const errors: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    await page.setViewport({ width: 360, height: 740 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    await page.goto(`${origin}/docs#/Receivers/listReceivers`);
    await page.waitForSelector('html.dark-mode .swagger-ui .responses-table');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    await page.locator('.btn.authorize').click();
    await page.locator('.modal-ux input').fill(workspace.key);
    await page.locator('.modal-ux .btn.authorize').click();
    await page.locator('.modal-ux .btn-done').click();
    await page.locator('.try-out__btn').click();
    const [answer] = await Promise.all([
      page.waitForResponse(`${origin}/api/public/webhooks`),
      page.locator('.btn.execute').click(),
    ]);
    expect(answer.status()).toBe(200);
    expect(await answer.json()).toMatchObject({ webhooks: [] });
    expect(errors).toEqual([]);
  }, 60_000);
});
