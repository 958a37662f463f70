import { readFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Herald's version, which all packages share: the user agent, the metrics, the OpenAPI document and the CLI show it. */
export const VERSION = version;

declare const HERALD_COMMIT: string | undefined;

/** The commit from which `apps/build.js` has made this program; '' where it doesn't know, and in source. */
export const COMMIT = typeof HERALD_COMMIT === 'string' ? HERALD_COMMIT : '';

/** Tells two builds of one version apart, such as `0.3.0+3b5aa3f6c2d1`. */
export const BUILD = COMMIT === '' ? VERSION : `${VERSION}+${COMMIT}`;
