import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { JEST } from './suite/jest-command.ts';

/** It reads what the end-to-end tests were answered, so it comes after them. */
const GENERATORS = 'tests/soak/generators.test.ts';
/** Those that run only here, and those whose size is `sized`, at their full size. */
const longTests = globSync('tests/{integration,e2e,soak}/**/*.test.ts').filter(
  (file) => file !== GENERATORS && (file.startsWith('tests/soak/') || readFileSync(file, 'utf8').includes('/sized.ts')),
);
const SOURCE = '--conditions=source';

/** An hour of chaos takes about as long as all the rest. */
const STEPS: readonly (readonly [string, readonly string[]])[] = [
  ['long tests', [...JEST, '-w=1', ...longTests]],
  ['end-to-end tests on Sentinels', [SOURCE, 'scripts/test-topology.ts', 'sentinel']],
  ['end-to-end tests on a cluster', [SOURCE, 'scripts/test-topology.ts', 'cluster']],
  ['generated clients', [...JEST, GENERATORS]],
  ['chaos', [SOURCE, 'chaos/main.ts', '--seconds', '175', '--seeds', '1-21']],
];

const answers = join(mkdtempSync(join(tmpdir(), 'herald-answers-')), 'answers.ndjson');
const results = STEPS.map(([name, args]) => {
  const startedAt = performance.now();
  const { status } = spawnSync(process.execPath, args, {
    stdio: 'inherit',
    env: { ...process.env, HERALD_SOAK: '1', HERALD_TEST_ANSWERS: answers },
  });
  const minutes = Math.round((performance.now() - startedAt) / 60_000);
  if (status !== 0) process.exitCode = 1;
  return `${status === 0 ? 'passed' : 'FAILED'}  ${String(minutes).padStart(3)} min  ${name}`;
});
rmSync(dirname(answers), { recursive: true });
console.log(results.join('\n'));
