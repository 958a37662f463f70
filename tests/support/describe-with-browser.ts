import { chromium } from './start-browser.ts';

/** `describe` for tests in a browser. Chromium is not everywhere; `npm test` says what to type when it is missing. */
export const describeWithBrowser = chromium === undefined ? describe.skip : describe;
