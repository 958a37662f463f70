import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { releaseChangelog } from './release/release-changelog.ts';
import { setVersion } from './release/set-version.ts';

const root = join(import.meta.dirname, '..');

// npm runs this as the script "version": package.json has the new version, and npm commits and tags what is staged.
try {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const changelog = join(root, 'CHANGELOG.md');
  const today = new Date().toISOString().slice(0, 10);
  writeFileSync(changelog, releaseChangelog(readFileSync(changelog, 'utf8'), version, today));
  const files = setVersion(root, version);
  execFileSync('git', ['add', 'CHANGELOG.md', ...files], { cwd: root });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
