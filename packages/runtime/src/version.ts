import { readFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Herald's version, which all packages share: the user agent, the metrics, the OpenAPI document and the CLI show it. */
export const VERSION = version;
