import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JEST } from './suite/jest-command.ts';
import { judgeTestFile, type FileVerdict } from './topology/judge-test-file.ts';

const USAGE = 'usage: npm run test:topology -- sentinel|cluster [part of a path ...]';
/** Time limit of a test file, in ms. */
const LIMIT_MS = 300_000;
/** Tests that choose their topologies themselves; `npm test` runs them. */
const LEFT_OUT = 'tests/e2e/topologies/';

/** Runs the end-to-end tests on another topology, file by file, and prints a line for each. */
async function testTopology(topology: string, parts: readonly string[]): Promise<boolean> {
  const files = globSync('tests/e2e/**/*.test.ts')
    .filter((file) => !file.startsWith(LEFT_OUT) && (parts.length === 0 || parts.some((part) => file.includes(part))))
    .sort();
  const dir = await mkdtemp(join(tmpdir(), 'herald-topology-'));
  try {
    const counts: Record<FileVerdict['kind'], number> = { passed: 0, 'needs one server': 0, failed: 0 };
    for (const file of files) {
      const startedAt = performance.now();
      const verdict = judgeTestFile(await runFile(file, topology, join(dir, 'report.json')));
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
      console.log([verdict.kind.padEnd(16), `${seconds} s`.padStart(6), file].join('  '));
      for (const line of verdict.details) console.log(`    ${line}`);
      counts[verdict.kind]++;
    }
    console.log(
      `${topology}: ${Object.entries(counts)
        .map(([kind, count]) => `${count} ${kind}`)
        .join(', ')}`,
    );
    return files.length > 0 && counts.failed === 0;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Jest's report; undefined when there is none. */
async function runFile(file: string, topology: string, report: string): Promise<string | undefined> {
  await rm(report, { force: true });
  const args = [...JEST, file, '--selectProjects=e2e', '-w=1'];
  spawnSync(process.execPath, [...args, '--json', `--outputFile=${report}`], {
    stdio: 'ignore',
    timeout: LIMIT_MS,
    env: { ...process.env, HERALD_TEST_TOPOLOGY: topology },
  });
  return await readFile(report, 'utf8').catch(() => undefined);
}

const [topology = '', ...parts] = process.argv.slice(2);
if (topology === 'sentinel' || topology === 'cluster') {
  process.exitCode = (await testTopology(topology, parts)) ? 0 : 1;
} else {
  console.error(USAGE);
  process.exitCode = 1;
}
