import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createRandom } from '../chaos/random.ts';
import { findImporters } from './mutants/find-importers.ts';
import { findMutations, KINDS } from './mutants/find-mutations.ts';
import { JEST } from './suite/jest-command.ts';

// `npm run mutants`: changes one line of production code at a time, and looks whether a test notices. It changes files in place
// and puts them back: run it in a clone of its own. With `--quick`, what the nearest tests don't notice is a candidate: the whole
// suite, which takes longest, is left to you. `--kinds` draws only mistakes of some kinds.
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '40' },
    quick: { type: 'boolean', default: false },
    kinds: { type: 'string', default: KINDS.join() },
  },
});
const FOLDERS = ['packages/{core,queue,store,egress}/src', 'apps/api/src'];
/** A test that runs longer has noticed, in ms: something hangs. */
const LIMIT_MS = 900_000;
/** The tests that import what they test, by project. */
const IN_PROCESS = { unit: '{packages,apps}/*/src/**/*.test.ts', integration: 'tests/integration/**/*.test.ts' };
const TSC = 'node_modules/typescript-7/bin/tsc';

function run(...args: readonly string[]) {
  return spawnSync(process.execPath, args, { encoding: 'utf8', timeout: LIMIT_MS, maxBuffer: 100_000_000 });
}

/** The first test file that fails; undefined when all pass. */
function findFailure(project: string, ...args: readonly string[]): string | undefined {
  const { status, stdout, stderr } = run(...JEST, `--selectProjects=${project}`, '--bail', '--forceExit', ...args);
  if (status === 0) return undefined;
  return /^FAIL (.+?)(?: \(|$)/m.exec(stdout + stderr)?.[1] ?? `${project}, which didn't end`;
}

/** The words of a path within its package, of which a test of the same thing has one in its name too. */
function wordsOf(path: string): string[] {
  const [, within = ''] = path.replace(/\.ts$/, '').split('/src/');
  return [...new Set(within.split(/[/-]/).filter((word) => word.length > 4))];
}

/** What notices the change: first the tests that import the file, then those named after the same thing, then all unless quick. */
function findKiller(path: string): string | undefined {
  if (run(TSC, '-b', 'tsconfig.build.json', 'tsconfig.json').status !== 0) return 'compiler';
  // End-to-end tests run the bundles.
  const { status, stderr } = run('apps/build.js');
  if (status !== 0) throw new Error(`the programs can't be bundled: ${stderr}`);
  for (const [project, pattern] of Object.entries(IN_PROCESS)) {
    const tests = findImporters(globSync(pattern), path);
    const killer = tests.length > 0 ? findFailure(project, '--runTestsByPath', ...tests) : undefined;
    if (killer !== undefined) return killer;
  }
  const words = wordsOf(path);
  const killer = words.length > 0 ? findFailure('e2e', '--passWithNoTests', ...words) : undefined;
  if (killer !== undefined || values.quick) return killer;
  return findFailure('e2e') ?? findFailure('unit') ?? findFailure('integration');
}

const kinds = values.kinds.split(',');
const strange = kinds.filter((kind) => !KINDS.some((known) => known === kind));
if (strange.length > 0) throw new Error(`--kinds must be some of ${KINDS.join()}, not ${strange.join()}`);
const random = createRandom(Number(values.seed), 'mutants');
const places = FOLDERS.flatMap((folder) => globSync(`${folder}/**/*.ts`))
  .filter((path) => !path.endsWith('.test.ts'))
  .sort()
  .flatMap((path) => findMutations(path, readFileSync(path, 'utf8')).map((mutation) => ({ path, mutation })))
  .filter(({ mutation: { kind } }) => kinds.includes(kind));
console.log(`seed ${values.seed}: ${values.count} of ${places.length} mutants`);

const killers = new Map<string, number>();
for (let count = 0; count < Number(values.count);) {
  const { path, mutation } = random.pick(places);
  const text = readFileSync(path, 'utf8');
  const mutant = text.slice(0, mutation.start) + mutation.replacement + text.slice(mutation.end);
  const line = text.slice(0, mutation.start).split('\n').length;
  const startedAt = performance.now();
  let killer: string | undefined;
  try {
    writeFileSync(path, mutant);
    killer = findKiller(path);
  } finally {
    writeFileSync(path, text);
  }
  if (killer === 'compiler') continue; // it can't run
  count++;
  const by = killer ?? (values.quick ? 'CANDIDATE' : 'SURVIVED');
  const project = by.split(' ')[0] ?? by;
  killers.set(project, (killers.get(project) ?? 0) + 1);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const change = `${text.split('\n')[line - 1]?.trim()}  →  ${mutant.split('\n')[line - 1]?.trim()}`;
  console.log(`${String(seconds).padStart(4)} s  ${path}:${line}  ${mutation.kind}: ${change}\n        ${by}`);
}
console.log([...killers].map(([by, count]) => `${by} ${count}`).join(', '));
