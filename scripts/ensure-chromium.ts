import { ensureChromium } from './local/ensure-chromium.ts';

// Runs before `npm test`, which opens the operators' board in a browser. Without one, these tests are skipped.
const missing = ensureChromium();
if (missing !== undefined) console.error(missing);
