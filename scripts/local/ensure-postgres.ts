import { findPostgres } from '@herald/test-kit';
import { findInstallation } from './install-packages.ts';

const PACKAGE_MANAGERS = [
  {
    program: 'apt-get',
    // Debian's package makes and starts a cluster, unless it is told not to before it is installed.
    commands: [
      'apt-get update',
      'mkdir -p /etc/postgresql-common/createcluster.d',
      'cp scripts/local/no-main-cluster.conf /etc/postgresql-common/createcluster.d/',
      'apt-get install -y --no-install-recommends postgresql',
    ],
    asRoot: true,
  },
  { program: 'dnf', commands: ['dnf install -y postgresql-server'], asRoot: true },
  { program: 'apk', commands: ['apk add postgresql'], asRoot: true },
  { program: 'brew', commands: ['brew install postgresql@17'], asRoot: false },
];

/**
 * Does nothing when there is a PostgreSQL server. Otherwise installs it as root, or in CI.
 * @throws Error with the command to type when it is still missing
 */
export function ensurePostgres(env: NodeJS.ProcessEnv = process.env): void {
  if (findPostgres() !== undefined) return;
  const installation = findInstallation(PACKAGE_MANAGERS, env);
  if (installation === undefined) throw new Error('PostgreSQL is missing: install its server, 14 or later.');
  const { typed, mayRun, run } = installation;
  if (!mayRun) throw new Error(`PostgreSQL is missing. Type: ${typed}`);
  console.error(`PostgreSQL is missing; installing it: ${typed}`);
  run();
  if (findPostgres() === undefined) throw new Error(`PostgreSQL could not be installed, see above. Type: ${typed}`);
}
