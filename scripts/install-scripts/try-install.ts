import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
const LIMIT_MS = 300_000;
/** The files that `npm ci` reads, and the one that npm scripts begin with. */
const NEEDED = ['package.json', 'package-lock.json', '.npmrc', 'scripts/use-node.js', '{apps,packages}/*/package.json'];

export interface TriedInstall {
  /** Scripts that ran during `npm ci`, such as `postinstall some-package`. */
  readonly ran: readonly string[];
  /** The version of Node that npm scripts use, such as `v24.21.0`. */
  readonly node: string;
}

/** Runs `npm ci` in a fresh checkout, by another version of npm from the registry, with npm's cache. */
export async function tryInstall(version: string): Promise<TriedInstall> {
  return inFolder(async (folder) => {
    const checkout = join(folder, 'checkout');
    for (const path of globSync(NEEDED, { cwd: ROOT })) await cp(join(ROOT, path), join(checkout, path));
    const tool = join(folder, 'tool');
    await mkdir(tool);
    await runNpm('npm', ['install', '--prefix', tool, '--ignore-scripts', `npm@${version}`], tool);
    const npm = join(tool, 'node_modules/.bin/npm');
    const recorder = await createScriptRecorder(folder);
    await runNpm(npm, ['ci', '--no-audit'], checkout, recorder.env);
    const ran = await recorder.read();
    const print = 'scripts/use-node.js && node -p process.version';
    return { ran, node: (await runNpm(npm, ['exec', '--call', print], checkout)).trim() };
  });
}

/** Proves that scripts are recorded when they run: otherwise an empty list would mean nothing. */
export async function provesRecording(): Promise<boolean> {
  return inFolder(async (folder) => {
    const dependency = join(folder, 'dependency');
    await mkdir(dependency);
    const manifest = { name: 'with-script', version: '1.0.0', scripts: { postinstall: 'true' } };
    await writeFile(join(dependency, 'package.json'), JSON.stringify(manifest));
    await writeFile(
      join(folder, 'package.json'),
      JSON.stringify({ dependencies: { 'with-script': 'file:dependency' } }),
    );
    const recorder = await createScriptRecorder(folder);
    await runNpm('npm', ['install', '--ignore-scripts=false', '--no-audit'], folder, recorder.env);
    return (await recorder.read()).includes('postinstall with-script');
  });
}

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'herald-install-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Uses the machine's own Node, without the variables that npm has set for this script. */
async function runNpm(npm: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  const path = (process.env.PATH ?? '').split(':').filter((folder) => !folder.includes('node_modules'));
  const { stdout } = await promisify(execFile)(npm, [...args], {
    cwd,
    env: { ...Object.fromEntries(inherited), PATH: path.join(':'), npm_config_prefer_offline: 'true', ...env },
    timeout: LIMIT_MS,
    maxBuffer: 64 * 1_024 * 1_024,
  });
  return stdout;
}

export interface ScriptRecorder {
  /** Environment of an npm process: it runs every script through a shell that records the script's name. */
  readonly env: Readonly<Record<string, string>>;
  /** The scripts that have run so far, in order, such as `postinstall some-package`. */
  read(): Promise<readonly string[]>;
}

/** Keeps its shell and its list in `folder`, whose path must contain no quote. */
export async function createScriptRecorder(folder: string): Promise<ScriptRecorder> {
  const list = join(folder, 'scripts-that-ran.txt');
  const shell = join(folder, 'recording-shell');
  await writeFile(list, '');
  await writeFile(shell, `#!/bin/sh\necho "$npm_lifecycle_event $npm_package_name" >> '${list}'\nexec /bin/sh "$@"\n`);
  await chmod(shell, 0o755);
  return {
    env: { npm_config_script_shell: shell },
    read: async () => (await readFile(list, 'utf8')).split('\n').filter((line) => line !== ''),
  };
}
