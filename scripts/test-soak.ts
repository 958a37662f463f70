import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { JEST } from './suite/jest-command.ts';

/** Those that run only here, and those whose size is `sized`, at their full size. */
const longTests = globSync('tests/{integration,e2e,soak}/**/*.test.ts').filter(
  (file) => file.startsWith('tests/soak/') || readFileSync(file, 'utf8').includes('/sized.ts'),
);
const SOURCE = '--conditions=source';

/** An hour of chaos takes about as long as all the rest. */
const STEPS: readonly (readonly [string, readonly string[]])[] = [
  ['long tests', [...JEST, '-w=1', ...longTests]],
  ['end-to-end tests on Sentinels', [SOURCE, 'scripts/test-topology.ts', 'sentinel']],
  ['end-to-end tests on a cluster', [SOURCE, 'scripts/test-topology.ts', 'cluster']],
  ['chaos', [SOURCE, 'chaos/main.ts', '--seconds', '175', '--seeds', '1-21']],
];

const results = STEPS.map(([name, args]) => {
  const startedAt = performance.now();
  const { status } = spawnSync(process.execPath, args, {
    stdio: 'inherit',
    env: { ...process.env, HERALD_SOAK: '1' },
  });
  const minutes = Math.round((performance.now() - startedAt) / 60_000);
  if (status !== 0) process.exitCode = 1;
  return `${status === 0 ? 'passed' : 'FAILED'}  ${String(minutes).padStart(3)} min  ${name}`;
});
console.log(results.join('\n'));
