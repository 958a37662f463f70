import { findChromium, patient } from '@herald/test-kit';
import { launch, type Browser } from 'puppeteer-core';

/** Chromium on this machine; undefined when there is none, and its tests are skipped. */
export const chromium = findChromium();

/** It talks to 127.0.0.1 and to nobody else: every other name is not found, and it has no errands of its own. */
const FLAGS = [
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-dev-shm-usage',
  '--disable-domain-reliability',
  '--disable-extensions',
  // The last one is a process for a page that may come next, made anew with every page.
  '--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication,SpareRendererForSitePerProcess',
  '--disable-gpu',
  // Or it draws by a processor what nobody sees, in a process of its own.
  '--disable-software-rasterizer',
  '--in-process-gpu',
  '--disable-sync',
  // What moves is drawn again and again.
  '--force-prefers-reduced-motion',
  '--metrics-recording-only',
  '--no-default-browser-check',
  '--no-first-run',
  '--no-pings',
];

/** A browser without a window, and with a profile that leaves with it. */
export async function startBrowser(): Promise<Browser> {
  if (chromium === undefined) throw new Error('chromium is not on the PATH');
  // Chromium's sandbox refuses root.
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return await launch({
    executablePath: chromium,
    headless: true,
    args: [...FLAGS, ...asRoot],
    timeout: patient(60_000),
  });
}
