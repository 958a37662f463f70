import { startProcess } from '@herald/test-kit';
import { cp, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
/** What the API serves. */
const KIT = join(ROOT, 'apps/api/dist/kit');
const AZURE_HOST = join(ROOT, 'tests/fixtures/azure-host');
const NEST_LIKE = join(ROOT, 'tests/fixtures/nest-like/@nestjs');
const TYPESCRIPT = join(ROOT, 'node_modules/typescript-4.9/bin/tsc');

export interface CustomerFolder extends AsyncDisposable {
  path: string;
}

/** A customer's folder: the kit as Herald serves it and npm installs it, and the libraries that he has anyway. */
export async function installKit(): Promise<CustomerFolder> {
  const path = await mkdtemp(join(tmpdir(), 'herald-customer-'));
  const remove = () => rm(path, { recursive: true, force: true });
  try {
    const packed = (await readdir(KIT)).find((name) => name.endsWith('.tgz'));
    if (packed === undefined) throw new Error('the kit is not built: npm run build');
    await writeFile(join(path, 'package.json'), '{"private":true}');
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(KIT, packed)], path);
    for (const library of ['express', 'ioredis', 'fastify', 'hono', 'koa', 'cookie', '@types']) {
      await symlink(join(ROOT, 'node_modules', library), join(path, 'node_modules', library));
    }
    await cp(join(ROOT, 'node_modules/@azure'), join(path, 'node_modules/@azure'), { recursive: true });
    await cp(AZURE_HOST, join(path, 'node_modules'), { recursive: true });
    await cp(NEST_LIKE, join(path, 'node_modules/@nestjs'), { recursive: true });
    return { path, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Compiles files of a folder with TypeScript 4.9. Returns what it complains of, which is nothing where all is well. */
export async function compile(folder: string, options: readonly string[], ...files: string[]): Promise<string> {
  const strict = ['--strict', '--target', 'es2022', '--types', 'node', '--skipLibCheck'];
  const args = [TYPESCRIPT, ...strict, ...options, ...files];
  await using ran = await startProcess({ name: 'tsc', command: process.execPath, args, cwd: folder });
  await ran.exited;
  return ran.output().trim();
}

async function run(command: string, args: readonly string[], home: string): Promise<void> {
  const ran = await startProcess({ name: command, command, args, cwd: home, env: { HOME: home } });
  const { code } = await ran.exited;
  if (code !== 0) throw new Error(`${command} ended with ${String(code)}\n${ran.tail()}`);
}
