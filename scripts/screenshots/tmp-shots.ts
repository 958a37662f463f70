import { startBrowser } from '../../tests/support/start-browser.ts';
import { startScene } from './start-scene.ts';
import { createServer } from 'node:http';
import { mkdirSync } from 'node:fs';

await using scene = await startScene();
const browser = await startBrowser();
const origin = scene.herald.apis[0]!.origin;
console.log(origin, scene.workspace.key, scene.pendingId, scene.retriedId);
const only = process.argv.slice(2);
mkdirSync('/tmp/shots', { recursive: true });
const pages: Record<string, string> = {
  signin: '/console/receivers',
  receivers: '/console/receivers#',
  receiver: `/console/receivers/${scene.receivers.hooks.id}#`,
  billing: `/console/receivers/${scene.receivers.billing.id}#`,
  pending: `/console/deliveries/${scene.pendingId}#`,
  retried: `/console/deliveries/${scene.retriedId}#`,
  task: `/console/tasks/${scene.tasks[3]}#`,
  verify: `/console/verify#`,
  admin: `/admin`,
};
const fake = (path: string, url: URL): unknown => {
  if (path === '/api/public/access') return { workspaceId: scene.workspace.id, kind: 'portal_link', scopes: ['webhooks'], readOnly: false, expiresAt: new Date(Date.now() + 3.5e6).toISOString() };
  if (path.endsWith('/stats')) {
    const w = url.searchParams.get('window') ?? '24h';
    const [n, s] = ({ '1h': [60, 60], '24h': [96, 900], '7d': [84, 7200] } as any)[w];
    const now = Date.now();
    const buckets = Array.from({ length: n }, (_, i) => {
      const at = new Date(now - (n - i) * s * 1000).toISOString();
      const d = Math.round(40 + 30 * Math.sin(i / 9) + 13 * Math.sin(i * 1.7));
      return i < 8 ? { at, delivered: 0, failedAttempts: 0 } : { at, delivered: d, failedAttempts: i > 60 && i < 72 ? Math.round(d / 3) : 0, p50Ms: 80 + Math.round(20 * Math.sin(i / 5)), p95Ms: 240 + Math.round(90 * Math.sin(i / 3)) };
    });
    return { window: w, bucketSeconds: s, since: buckets[0].at, until: new Date(now).toISOString(), buckets, totals: { delivered: 3210, failedAttempts: 180, successRate: 0.9469, p50Ms: 81, p95Ms: 312 } };
  }
  return undefined;
};
for (const [width, height] of [[1440, 900], [360, 740]] as const)
  for (const scheme of ['light', 'dark'])
    for (const [name, path] of Object.entries(pages)) {
      const id = `${name}-${width}-${scheme}`;
      if (only.length > 0 && !only.some((o) => id.includes(o))) continue;
      const context = await browser.createBrowserContext();
      const page = await context.newPage();
      page.on('console', (m) => m.type() === 'error' && console.log(id, 'CONSOLE', m.text()));
      page.on('pageerror', (e) => console.log(id, 'ERROR', String(e)));
      await page.setViewport({ width, height });
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      if (name === 'admin') await page.authenticate({ username: 'olga', password: 'correct horse: battery' });
      await page.setRequestInterception(true);
      page.on('request', (r) => {
        const u = new URL(r.url());
        const f = process.env.FAKE ? fake(u.pathname, u) : undefined;
        if (f) void r.respond({ status: 200, contentType: 'application/json', body: JSON.stringify(f) });
        else void r.continue();
      });
      await page.goto(origin + path + (path.endsWith('#') ? `token=${scene.workspace.key}` : ''), { waitUntil: 'networkidle0' }).catch((e) => console.log(id, String(e)));
      await new Promise((r) => setTimeout(r, 400));
      const over = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
      if (over) console.log(id, 'OVERFLOWS');
      await page.screenshot({ path: `/tmp/shots/${id}.png`, fullPage: process.env.FULL === '1' });
      await context.close();
    }
if (process.env.KEEP) await new Promise((r) => setTimeout(r, Number(process.env.KEEP)));
await browser.close();
