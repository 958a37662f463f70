import { findExecutable } from '@herald/test-kit';
import { spawnSync } from 'node:child_process';

/** How a package manager installs the package. */
export type PackageManager = {
  readonly program: string;
  readonly commands: readonly string[];
  readonly asRoot: boolean;
};

export type Installation = {
  /** The commands for a person to type. */
  readonly typed: string;
  /** Root and CI need no consent. */
  readonly mayRun: boolean;
  /** Runs the commands; their output goes to stderr. The caller checks whether the program is there afterwards. */
  readonly run: () => void;
};

/** Time limit of a command, in ms: without a network some wait for ever. */
const COMMAND_LIMIT_MS = 600_000;

/** How this machine's package manager installs it; undefined when there is none that is known. */
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
