import { findRedisServer } from '@herald/test-kit';
import { findInstallation } from './install-packages.ts';

const PACKAGE_MANAGERS = [
  { program: 'apt-get', commands: ['apt-get update', 'apt-get install -y redis-server'], asRoot: true },
  { program: 'dnf', commands: ['dnf install -y redis'], asRoot: true },
  { program: 'apk', commands: ['apk add redis'], asRoot: true },
  { program: 'brew', commands: ['brew install redis'], asRoot: false },
];

/**
 * Does nothing when redis-server or valkey-server is on the PATH. Otherwise installs it as root, or in CI.
 * @throws Error with the command to type when it is still missing
 */
export function ensureRedisServer(env: NodeJS.ProcessEnv = process.env): void {
  if (findRedisServer() !== undefined) return;
  const installation = findInstallation(PACKAGE_MANAGERS, env);
  if (installation === undefined) {
    throw new Error('Redis is missing: install redis-server or valkey-server, or set REDIS_URL for npm start.');
  }
  const { typed, mayRun, run } = installation;
  if (!mayRun) throw new Error(`Redis is missing. Type: ${typed}\n(or set REDIS_URL, for npm start only)`);
  console.error(`Redis is missing; installing it: ${typed}`);
  run();
  if (findRedisServer() === undefined) {
    throw new Error(`Redis could not be installed, see above. Type: ${typed}`);
  }
}
