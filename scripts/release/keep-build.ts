import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';

/** What runs of a build: programs, which hold their packages, the console, and what names the packages. */
const KEPT = ['apps/*/package.json', 'apps/*/dist', 'packages/*/package.json'];

/**
 * Packs a release that was built just now, for the upgrade test (tests/releases/README.md).
 * @returns the archive, from the root
 */
export function keepBuild(root: string, version: string): string {
  const archive = `tests/releases/${version}.tgz`;
  const options = ['--sort=name', '--owner=0', '--group=0', '--mtime=@0', '--exclude=*.map', '--exclude=*.d.ts'];
  const files = KEPT.flatMap((pattern) => globSync(pattern, { cwd: root })).sort();
  if (!files.includes(join('apps', 'api', 'dist'))) throw new Error('there is no build: type npm run build');
  execFileSync('tar', [...options, '-czf', archive, ...files], { cwd: root });
  return archive;
}
