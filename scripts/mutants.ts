import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createRandom } from '../chaos/random.ts';
import { createCompiler } from './mutants/create-compiler.ts';
import { findImporters, importsOf } from './mutants/find-importers.ts';
import { findMutations, KINDS } from './mutants/find-mutations.ts';
import { JEST } from './suite/jest-command.ts';

// `npm run mutants`: changes one line of production code at a time, and looks whether a test notices. It changes files in place
// and puts them back: run it in a clone of its own. With `--quick`, what the nearest tests don't notice is a candidate: the whole
// suite, which takes longest, is left to you. `--kinds` draws only mistakes of some kinds. `--from 31` leaves out the first
// thirty of a seed: another run, in another clone, has them.
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '1' },
    count: { type: 'string', default: '40' },
    quick: { type: 'boolean', default: false },
    kinds: { type: 'string', default: KINDS.join() },
  },
});
const FOLDERS = ['packages/{core,queue,store,egress}/src', 'apps/api/src'];
/** A test that runs longer has noticed, in ms: something hangs. */
const LIMIT_MS = 900_000;
/** The tests that import what they test, by project, and those that run what is built. */
const TESTS = {
  unit: globSync('{packages,apps}/*/src/**/*.test.ts'),
  integration: globSync('tests/integration/**/*.test.ts'),
  e2e: globSync('tests/e2e/**/*.test.ts'),
};
const TSC = 'node_modules/typescript-7/bin/tsc';

function run(...args: readonly string[]) {
  return spawnSync(process.execPath, args, { encoding: 'utf8', timeout: LIMIT_MS, maxBuffer: 100_000_000 });
}

/** Runs jest, and returns the first test file that fails; undefined when all pass. */
function runJest(...args: readonly string[]): string | undefined {
  const { status, stdout, stderr } = run(...JEST, '--bail', '--forceExit', ...args);
  if (status === 0) return undefined;
  return /^FAIL \w+ (.+?)(?: \(|$)/m.exec(stdout + stderr)?.[1] ?? 'jest, which did not end';
}

/** The mutant that is in: its file, what stands there without it, and with it. */
let current = { path: '', text: '', mutant: '' };
/** Whether tests pass without a mutant, of those that failed with one. */
const passes = new Map<string, boolean>();

/** Whether a test passes without the mutant. One that doesn't notices nothing: it is named, and left out from then on. */
function passesWithout(test: string): boolean {
  const known = passes.get(test);
  if (known !== undefined) return known;
  writeFileSync(current.path, current.text);
  if (TESTS.e2e.includes(test)) bundle();
  const isPassed = runJest('--runTestsByPath', test) === undefined;
  writeFileSync(current.path, current.mutant);
  if (TESTS.e2e.includes(test)) bundle();
  passes.set(test, isPassed);
  if (!isPassed) console.log(`        left out, since it fails without a mutant: ${test}`);
  return isPassed;
}

/**
 * The first of these test files that fails, fails again by itself, as on a busy machine some fail once, and passes
 * without the mutant.
 */
function findFailure(named: readonly string[]): string | undefined {
  const tests = named.filter((test) => passes.get(test) !== false);
  if (tests.length === 0) return undefined;
  const failed = runJest('--runTestsByPath', ...tests);
  if (failed === undefined) return undefined;
  // Jest did not end.
  if (!tests.includes(failed)) return tests.every(passesWithout) ? failed : findFailure(tests);
  if (runJest('--runTestsByPath', failed) !== undefined && passesWithout(failed)) return failed;
  return findFailure(tests.filter((test) => test !== failed));
}

/** The words of a path within its package, of which a test of the same thing has one in its name too. */
function wordsOf(path: string): string[] {
  const [, within = ''] = path.replace(/\.ts$/, '').split('/src/');
  return [...new Set(within.split(/[/-]/).filter((word) => word.length > 4))];
}

/** Makes the programs that end-to-end tests run. */
function bundle(): void {
  const { status, stderr } = run('apps/build.js');
  if (status !== 0) throw new Error(`the programs can't be bundled: ${stderr}`);
}

/**
 * What notices the change: the tests that import the file, the nearest first, then those that are named after the same
 * thing or go over all of something, then all unless quick.
 */
function findKiller(path: string): string | undefined {
  const words = wordsOf(path);
  const isNamedAlike = (test: string) => words.some((word) => test.includes(word));
  const unit = findImporters(TESTS.unit, path);
  const integration = findImporters(TESTS.integration, path);
  const goesOverAll = (test: string) => test.includes('/every-');
  const near = [...unit, ...integration].filter((test) => isNamedAlike(test) || importsOf(test).includes(path));
  const met = new Set<string>();
  for (const tests of [near, unit, integration, TESTS.integration.filter(goesOverAll)]) {
    const killer = findFailure(tests.filter((test) => !met.has(test)));
    for (const test of tests) met.add(test);
    if (killer !== undefined) return killer;
  }
  bundle();
  const killer = findFailure(TESTS.e2e.filter((test) => isNamedAlike(test) || goesOverAll(test)));
  if (killer !== undefined || values.quick) return killer;
  // It sees what the change breaks in other files.
  if (run(TSC, '-b', 'tsconfig.build.json', 'tsconfig.json').status !== 0) return 'compiler';
  return findFailure(Object.values(TESTS).flat());
}

const kinds = values.kinds.split(',');
const strange = kinds.filter((kind) => !KINDS.some((known) => known === kind));
if (strange.length > 0) throw new Error(`--kinds must be some of ${KINDS.join()}, not ${strange.join()}`);
const random = createRandom(Number(values.seed), 'mutants');
const paths = FOLDERS.flatMap((folder) => globSync(`${folder}/**/*.ts`)).filter((path) => !path.endsWith('.test.ts'));
const compiler = createCompiler(paths);
const places = paths
  .sort()
  .flatMap((path) => findMutations(path, readFileSync(path, 'utf8')).map((mutation) => ({ path, mutation })))
  .filter(({ mutation: { kind } }) => kinds.includes(kind));
const from = Number(values.from);
const to = from + Number(values.count);
console.log(`seed ${values.seed}: ${from} to ${to - 1} of ${places.length} mutants`);

const killers = new Map<string, string[]>();
for (let drawn = 1; drawn < to;) {
  const { path, mutation } = random.pick(places);
  const text = readFileSync(path, 'utf8');
  const mutant = text.slice(0, mutation.start) + mutation.replacement + text.slice(mutation.end);
  if (compiler.refuses(path, mutant)) continue; // it can't run
  if (drawn++ < from) continue;
  const line = text.slice(0, mutation.start).split('\n').length;
  const startedAt = performance.now();
  let killer: string | undefined;
  current = { path, text, mutant };
  try {
    writeFileSync(path, mutant);
    killer = findKiller(path);
  } finally {
    writeFileSync(path, text);
  }
  const by = killer ?? (values.quick ? 'CANDIDATE' : 'SURVIVED');
  const project = Object.entries(TESTS).find(([, tests]) => tests.includes(by))?.[0] ?? by;
  killers.set(project, [...(killers.get(project) ?? []), by]);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const change = `${text.split('\n')[line - 1]?.trim()}  →  ${mutant.split('\n')[line - 1]?.trim()}`;
  console.log(`${String(seconds).padStart(4)} s  ${path}:${line}  ${mutation.kind}: ${change}\n        ${by}`);
}
console.log([...killers].map(([by, all]) => `${by} ${all.length}`).join(', '));
