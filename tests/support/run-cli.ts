import { launchProcess, patient, type LaunchedProcess } from '@herald/test-kit';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runCommand } from '../../apps/cli/src/run-command.ts';
import { entryPoint, type Env } from './start-herald-process.ts';

/** Where no service of `npm start` is found. */
const NOWHERE = join(tmpdir(), 'herald-nowhere');

export interface CliOptions {
  /** The folder of `npm start`. */
  readonly localFolder?: string;
  readonly onInterrupt?: (listener: () => void) => void;
  /** What stands on standard input. */
  readonly input?: string;
}

/**
 * Runs a command of the CLI in this process, which takes a fraction of the time of a new one. What a process reads from
 * its environment when it starts, such as NODE_EXTRA_CA_CERTS, is without effect.
 */
export async function runCli(args: readonly string[], env: Env, options: CliOptions = {}) {
  const { localFolder = NOWHERE, onInterrupt = () => undefined, input = '' } = options;
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const openStdin = () => new PassThrough().end(input);
  const written = [text(stdout), text(stderr)] as const;
  const { code } = await runCommand(args, { openStdin, stdout, stderr, env, localFolder, onInterrupt }).finally(() => {
    stdout.end();
    stderr.end();
  });
  const [out, err] = await Promise.all(written);
  return { code, stdout: out.replace(/\n$/, ''), stderr: err.replace(/\n$/, '') };
}

/** Runs the built CLI to its end. */
export async function runBuiltCli(args: readonly string[], env: Env) {
  return await runToEnd(
    'cli',
    await launchProcess({
      name: 'cli',
      command: process.execPath,
      args: [entryPoint('cli'), ...args],
      env,
    }),
  );
}

/** Runs a built process that is expected to end by itself. */
export async function runApp(app: 'api' | 'worker', env: Env) {
  return await runToEnd(
    app,
    await launchProcess({
      name: app,
      command: process.execPath,
      args: [entryPoint(app)],
      env,
    }),
  );
}

/** Below jest's own, which would not show what it printed. */
const DEADLINE_MS = patient(25_000);

async function runToEnd(name: string, launched: LaunchedProcess) {
  const timer = setTimeout(() => {
    launched.kill('SIGKILL');
  }, DEADLINE_MS);
  const { code, signal } = await launched.exited;
  clearTimeout(timer);
  if (signal) throw new Error(`${name} didn't end by itself within ${DEADLINE_MS} ms\n${launched.tail()}`);
  return { code, stdout: launched.stdout.join('\n'), stderr: launched.stderr.join('\n') };
}
