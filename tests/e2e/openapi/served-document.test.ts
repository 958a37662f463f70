import { document } from '../../support/openapi-document.ts';
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
