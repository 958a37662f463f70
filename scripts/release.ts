import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepBuild } from './release/keep-build.ts';
import { nextVersion } from './release/next-version.ts';
import { releaseChangelog } from './release/release-changelog.ts';
import { setVersion } from './release/set-version.ts';

const root = join(import.meta.dirname, '..');
const run = (program: string, ...args: readonly string[]) =>
  execFileSync(program, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });

const readVersion = () => (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;

// `npm run release -- minor`. npm runs this again, as the script "version", when package.json has the new version, and
// commits and tags what that stages.
try {
  const [step, ...more] = process.argv.slice(2);
  if (step === 'stage') {
    stage(readVersion());
  } else {
    run(
      'npm',
      'version',
      ...(step === undefined ? [] : [step, ...more]),
      '--ignore-scripts=false',
      '--message',
      'Release %s',
    );
    beginNext(readVersion());
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** Everything that the release commit has. */
function stage(version: string): void {
  const changelog = join(root, 'CHANGELOG.md');
  const today = new Date().toISOString().slice(0, 10);
  writeFileSync(changelog, releaseChangelog(readFileSync(changelog, 'utf8'), version, today));
  run('git', 'add', 'CHANGELOG.md', ...setVersion(root, version));
}

/** Builds what is tagged, keeps that for the upgrade test of the next release, and begins that one. */
function beginNext(version: string): void {
  run('npm', 'run', '--silent', 'build');
  const archive = keepBuild(root, version);
  const next = nextVersion(version);
  run('npm', 'version', next, '--no-git-tag-version', '--ignore-scripts', '--silent');
  run('git', 'add', archive, 'package.json', ...setVersion(root, next));
  run('git', 'commit', '--quiet', '--message', `Keep the build of ${version}, and begin ${next}`);
}
