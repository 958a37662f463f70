import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { judgeManifest } from './packages/judge-manifest.ts';
import { judgeTypes } from './packages/judge-types.ts';

/** What others install. */
const PACKAGES = ['packages/receiver', 'packages/client'];

const ROOT = join(import.meta.dirname, '..');
const run = promisify(execFile);

/** The output of a command, whether it succeeds or not. */
async function outcomeOf(command: string, args: readonly string[], cwd: string) {
  try {
    const { stdout } = await run(command, args, { cwd });
    return { isFine: true, output: stdout };
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return { isFine: false, output: `${String(error)}\n${stdout}${stderr}` };
  }
}

/** Packs a built package as npm publishes it, and has it judged. Returns what is wrong. */
async function findProblems(folder: string): Promise<string[]> {
  const dir = await mkdtemp(join(tmpdir(), 'herald-pack-'));
  try {
    const packed = await run(
      'npm',
      ['pack', join(ROOT, folder), '--pack-destination', dir, '--ignore-scripts', '--json'],
      { cwd: dir },
    );
    const [entry] = JSON.parse(packed.stdout) as [{ filename: string }];
    await run('tar', ['-xzf', entry.filename], { cwd: dir });
    const manifest = JSON.parse(await readFile(join(dir, 'package/package.json'), 'utf8')) as { name: string };
    const installed = join(dir, 'node_modules', manifest.name);
    await mkdir(dirname(installed), { recursive: true });
    await rename(join(dir, 'package'), installed);
    const bin = (name: string) => join(ROOT, 'node_modules/.bin', name);
    const judged = await Promise.all([
      outcomeOf(bin('publint'), ['--strict', entry.filename], dir),
      outcomeOf(bin('attw'), [entry.filename], dir),
    ]);
    return [
      ...judgeManifest(manifest),
      ...judged.flatMap(({ isFine, output }) => (isFine ? [] : [output])),
      ...(await judgeTypes(dir, manifest.name)),
    ];
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

for (const folder of PACKAGES) {
  const problems = await findProblems(folder);
  console.log(problems.length === 0 ? `${folder}: fit to be published` : `${folder}:\n${problems.join('\n')}`);
  if (problems.length > 0) process.exitCode = 1;
}
