import { execFile } from 'node:child_process';
import { cp, glob, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Installation } from './start-herald-process.ts';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
const RELEASES = join(REPOSITORY, 'tests/releases');

export interface PreviousRelease extends Installation, AsyncDisposable {
  readonly folder: string;
  readonly version: string;
}

/**
 * Unpacks the newest release. It lies below `node_modules`, so that it finds the libraries of this build; the packages of
 * its own it finds first.
 */
export async function unpackPreviousRelease(): Promise<PreviousRelease> {
  const archives = (await readdir(RELEASES)).filter((name) => name.endsWith('.tgz'));
  const newest = archives.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
  if (newest === undefined) throw new Error('tests/releases holds no release');
  const cache = join(REPOSITORY, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'release-'));
  await promisify(execFile)('tar', ['-xzf', join(RELEASES, newest), '-C', folder]);
  await mkdir(join(folder, 'node_modules/@herald'), { recursive: true });
  for (const name of await readdir(join(folder, 'packages'))) {
    await symlink(join('../../packages', name), join(folder, 'node_modules/@herald', name));
  }
  // The library of metrics has another name since.
  await symlink(join(REPOSITORY, 'node_modules/@prometheus-io/client'), join(folder, 'node_modules/prom-client'));
  // Libraries that npm put beside a package of this build rather than at the top.
  for await (const nested of glob('packages/*/node_modules', { cwd: REPOSITORY })) {
    await cp(join(REPOSITORY, nested), join(folder, nested), { recursive: true });
  }
  return {
    folder,
    version: newest.replace('.tgz', ''),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}
