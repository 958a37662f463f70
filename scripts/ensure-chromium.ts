import { ensureChromium } from './local/ensure-chromium.ts';

// Before `npm test`, which looks at the operators' board as they do. Without a browser those tests are skipped, and the rest is run.
const missing = ensureChromium();
if (missing !== undefined) console.error(missing);
