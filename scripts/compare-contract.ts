import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * What callers, operators and stored data rely on, and the file that has all of it. Tests hold the pages against the
 * code, and the types are written from the OpenAPI document.
 */
const CONTRACT = {
  'OpenAPI document': 'packages/client/src/api/api-types.ts',
  'HTTP operations': 'docs/http-operations.md',
  'error codes': 'docs/errors.md',
  'commands of the CLI': 'docs/cli.md',
  variables: 'docs/configuration.md',
  metrics: 'docs/metrics.md',
  'log events': 'docs/logs.md',
  'keys in Redis': 'packages/store/src/keys/key-name.ts',
} as const;

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
}

/** The lines that say something: blank ones and the lines under a table's head don't, nor does how wide its columns are. */
function readLines(text: string): readonly string[] {
  const said = (line: string) => line.trim().replaceAll(/\s+/g, ' ');
  return text
    .split('\n')
    .map(said)
    .filter((line) => line !== '' && !/^[|\- ]+$/.test(line));
}

/** The lines that are in the first and not in the second, as often. */
function lacking(lines: readonly string[], others: readonly string[]): readonly string[] {
  const left = Map.groupBy(others, (line) => line);
  return lines.filter((line) => left.get(line)?.pop() === undefined);
}

// `npm run contract -- <commit>` prints what others would notice since then. Compare it with the CHANGELOG.
const [commit] = process.argv.slice(2);
if (commit === undefined) throw new Error('name a commit to compare with: npm run contract -- v0.2.0');
const former = git('ls-tree', '-r', '--name-only', commit).split('\n');
for (const [what, path] of Object.entries(CONTRACT)) {
  // A file that moved since kept its name.
  const formerPath = former.includes(path) ? path : former.find((each) => basename(each) === basename(path));
  const before = readLines(formerPath === undefined ? '' : git('show', `${commit}:${formerPath}`));
  const now = readLines(readFileSync(path, 'utf8'));
  const [gone, added] = [lacking(before, now), lacking(now, before)];
  console.log(`${what} (${path}): ${now.length} lines, ${gone.length} gone, ${added.length} new`);
  for (const line of gone) console.log(`  - ${line}`);
  for (const line of added) console.log(`  + ${line}`);
}
