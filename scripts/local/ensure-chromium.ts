import { findChromium } from '@herald/test-kit';
import { findInstallation } from './install-packages.ts';

const PACKAGE_MANAGERS = [
  {
    program: 'apt-get',
    commands: ['apt-get update', 'apt-get install -y --no-install-recommends chromium'],
    asRoot: true,
  },
  { program: 'dnf', commands: ['dnf install -y chromium'], asRoot: true },
  { program: 'apk', commands: ['apk add chromium'], asRoot: true },
  { program: 'brew', commands: ['brew install --cask chromium'], asRoot: false },
];

const SKIPPED = 'the tests of the board and the pages in a browser are skipped';

/**
 * Does nothing when Chromium or Chrome is on the PATH. Otherwise installs it as root, or in CI. Returns a sentence with
 * the command to type when it is still missing.
 */
export function ensureChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (findChromium() !== undefined) return undefined;
  const installation = findInstallation(PACKAGE_MANAGERS, env);
  if (installation === undefined) return `Chromium is missing, so ${SKIPPED}. Install chromium or google-chrome.`;
  const { typed, mayRun, run } = installation;
  if (!mayRun) return `Chromium is missing, so ${SKIPPED}. To run them, type: ${typed}`;
  console.error(`Chromium is missing; installing it: ${typed}`);
  run();
  return findChromium() === undefined
    ? `Chromium could not be installed, see above, so ${SKIPPED}. To run them, type: ${typed}`
    : undefined;
}
