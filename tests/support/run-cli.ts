import { launchProcess, type LaunchedProcess } from '@herald/test-kit';
import { COMPILE_CACHE, entryPoint, type Env } from './start-herald-process.ts';

/** Runs the built CLI to its end. */
export async function runCli(args: readonly string[], env: Env) {
  return await runToEnd(
    'cli',
    await launchProcess({
      name: 'cli',
      command: process.execPath,
      args: [entryPoint('cli'), ...args],
      env: { ...COMPILE_CACHE, ...env },
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
      env: { ...COMPILE_CACHE, ...env },
    }),
  );
}

const DEADLINE_MS = 15_000;

async function runToEnd(name: string, launched: LaunchedProcess) {
  const timer = setTimeout(() => {
    launched.kill('SIGKILL');
  }, DEADLINE_MS);
  const { code, signal } = await launched.exited;
  clearTimeout(timer);
  if (signal) throw new Error(`${name} didn't end by itself within ${DEADLINE_MS} ms\n${launched.tail()}`);
  return { code, stdout: launched.stdout.join('\n'), stderr: launched.stderr.join('\n') };
}
