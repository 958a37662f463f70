import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const STOP_MS = 5_000;

export interface Shell extends AsyncDisposable {
  /** Runs commands as if they were typed, and returns what they and the programs in the background have printed. */
  type(commands: string): Promise<string>;
}

/**
 * A bash that keeps its variables and its programs in the background from one block of commands to the next. It ends,
 * and so does `type` with an error, when a command fails. What was started in it ends with it.
 */
export function startShell(folder: string, env: Readonly<Record<string, string>>): Shell {
  const bash = spawn('bash', ['--norc'], {
    cwd: folder,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, HOME: folder, ...env },
    detached: true, // a group of its own, so that all of it can be ended
  });
  let printed = '';
  const ended = once(bash, 'exit');
  const collect = (chunk: Buffer) => {
    printed += chunk.toString();
    bash.emit('printed');
  };
  bash.stdout.on('data', collect);
  bash.stderr.on('data', collect);
  bash.stdin.on('error', () => undefined); // it has ended, which `type` says
  bash.stdin.write('set -eo pipefail\n');
  let count = 0;
  return {
    async type(commands) {
      const file = join(folder, `block-${++count}.sh`);
      const mark = `--- end of block ${count} ---`;
      await writeFile(file, commands);
      printed = '';
      // A command must not read the commands that follow.
      bash.stdin.write(`. '${file}' < /dev/null\nprintf '%s\\n' '${mark}'\n`);
      while (!printed.includes(mark)) {
        if (bash.exitCode !== null || bash.signalCode !== null)
          throw new Error(`a command failed (exit code ${bash.exitCode ?? 'unknown'}):\n${commands}\n${printed}`);
        await Promise.race([once(bash, 'printed'), ended]);
      }
      return printed.slice(0, printed.indexOf(mark));
    },
    async [Symbol.asyncDispose]() {
      bash.stdin.end();
      signal('SIGTERM');
      const timer = setTimeout(signal, STOP_MS, 'SIGKILL');
      if (bash.exitCode === null && bash.signalCode === null) await ended;
      clearTimeout(timer);
      signal('SIGKILL'); // programs in the background that outlive it
    },
  };

  function signal(name: NodeJS.Signals): void {
    try {
      process.kill(-(bash.pid ?? 0), name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
