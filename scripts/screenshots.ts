import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { OPERATOR_ENV } from '../tests/support/operator-client.ts';
import { startBrowser } from '../tests/support/start-browser.ts';
import { startScene } from './screenshots/start-scene.ts';

// `npm run screenshots` writes the pictures of the README, from a scene of its own.
const LIMIT_BYTES = 150_000;
const folder = join(import.meta.dirname, '../docs/images');
mkdirSync(folder, { recursive: true });

await using scene = await startScene();
const origin = scene.herald.apis[0]?.origin ?? '';
const PAGES = {
  delivery: {
    url: `${origin}/console/deliveries/${scene.retriedId}#token=${scene.workspace.key}`,
    shows: '.attempt-good',
  },
  receiver: {
    url: `${origin}/console/receivers/${scene.receivers.hooks.id}#token=${scene.workspace.key}`,
    shows: '.bar-good',
  },
  overview: { url: `${origin}/admin?window=24h`, shows: '.bar-good' },
};
const browser = await startBrowser();
for (const scheme of ['light', 'dark']) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1_200, height: 680 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.authenticate({ username: OPERATOR_ENV.OPERATOR_USER, password: OPERATOR_ENV.OPERATOR_PASSWORD });
  for (const [name, { url, shows }] of Object.entries(PAGES)) {
    await page.goto('about:blank');
    await page.goto(url, { waitUntil: 'networkidle0' });
    await page.waitForSelector(shows);
    const path = join(folder, `${name}-${scheme}.png`) as `${string}.png`;
    await page.screenshot({ path });
    const { size } = statSync(path);
    console.log(`${path}: ${Math.round(size / 1_000)} kB`);
    if (size > LIMIT_BYTES) throw new Error(`${path} may have at most ${LIMIT_BYTES / 1_000} kB`);
  }
  await page.close();
}
await browser.close();
