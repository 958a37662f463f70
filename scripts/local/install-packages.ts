import { findExecutable } from '@herald/test-kit';
import { spawnSync } from 'node:child_process';

/** How one package manager of this world installs what is wanted. */
export type PackageManager = {
  readonly program: string;
  readonly commands: readonly string[];
  readonly asRoot: boolean;
};

export type Installation = {
  /** What to type, for a person. */
  readonly typed: string;
  /** As root, or in CI, nobody needs to be asked. */
  readonly mayRun: boolean;
  /** What the installer says goes to stderr. Whether it worked is seen by whether the program is there. */
  readonly run: () => void;
};

/** Longest run of one command, in ms: without a network some wait for ever. */
const COMMAND_LIMIT_MS = 600_000;

/** How to install with the package manager that is here; undefined when none of them is. */
export function findInstallation(
  managers: readonly PackageManager[],
  env: NodeJS.ProcessEnv,
): Installation | undefined {
  const manager = managers.find(({ program }) => findExecutable(program) !== undefined);
  if (manager === undefined) return undefined;
  const isRoot = process.getuid?.() === 0;
  const needsSudo = manager.asRoot && !isRoot;
  return {
    typed: manager.commands.map((command) => (needsSudo ? `sudo ${command}` : command)).join(' && '),
    mayRun: isRoot || env.CI === 'true',
    run: () => {
      for (const command of manager.commands) {
        const [program = '', ...args] = `${needsSudo ? 'sudo -n ' : ''}${command}`.split(' ');
        spawnSync(program, args, {
          stdio: ['ignore', process.stderr.fd, process.stderr.fd],
          env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
          timeout: COMMAND_LIMIT_MS,
        });
      }
    },
  };
}
