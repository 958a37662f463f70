import { findExecutable, findRedisServer } from '@herald/test-kit';
import { spawnSync } from 'node:child_process';

const PACKAGE_MANAGERS = [
  { program: 'apt-get', commands: ['apt-get update', 'apt-get install -y redis-server'], asRoot: true },
  { program: 'dnf', commands: ['dnf install -y redis'], asRoot: true },
  { program: 'apk', commands: ['apk add redis'], asRoot: true },
  { program: 'brew', commands: ['brew install redis'], asRoot: false },
];

/**
 * Silent when redis-server or valkey-server is on the PATH. Otherwise installs it where we may: as root, or in CI.
 * Throws with the command to type when there is no server in the end.
 */
export function ensureRedisServer(env: NodeJS.ProcessEnv = process.env): void {
  if (findRedisServer() !== undefined) return;
  const manager = PACKAGE_MANAGERS.find(({ program }) => findExecutable(program) !== undefined);
  if (manager === undefined) {
    throw new Error('Redis is missing: install redis-server or valkey-server, or set REDIS_URL for npm start.');
  }
  const isRoot = process.getuid?.() === 0;
  const prefix = manager.asRoot && !isRoot ? 'sudo ' : '';
  const typed = manager.commands.map((command) => prefix + command).join(' && ');
  if (!isRoot && env.CI !== 'true') {
    throw new Error(`Redis is missing. Type: ${typed}\n(or set REDIS_URL, for npm start only)`);
  }
  console.error(`Redis is missing; installing it: ${typed}`);
  for (const command of manager.commands) {
    const [program = '', ...args] = `${prefix && 'sudo -n '}${command}`.split(' ');
    // The installer's words go to stderr. What it says of failure is judged below, by whether a server is there.
    spawnSync(program, args, {
      stdio: ['ignore', process.stderr.fd, process.stderr.fd],
      env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  }
  if (findRedisServer() === undefined) {
    throw new Error(`Redis could not be installed, see above. Type: ${typed}`);
  }
}
