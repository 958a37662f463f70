import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createRandom } from '../chaos/random.ts';
import { findMutations } from './mutants/find-mutations.ts';

// `npm run mutants`: changes one line of production code at a time, and looks whether a test notices. It changes files in place
// and puts them back: run it in a clone of its own.
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '40' },
    projects: { type: 'string', default: 'unit,integration,e2e' },
  },
});
const FOLDERS = ['packages/{core,queue,store,egress}/src', 'apps/api/src'];
/** A test that runs longer has noticed, in ms: something hangs. */
const LIMIT_MS = 900_000;
const JEST = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
const TSC = 'node_modules/typescript/bin/tsc';

function passes(...args: readonly string[]): boolean {
  return spawnSync(process.execPath, args, { stdio: 'ignore', timeout: LIMIT_MS }).status === 0;
}

/** The first that notices; undefined when nothing does. */
function findKiller(projects: readonly string[]): string | undefined {
  if (!passes(TSC, '-p', 'tsconfig.check.json')) return 'compiler';
  return projects.find((project) => {
    if (project === 'e2e' && !passes(TSC, '-b')) return true;
    return !passes(...JEST, '--selectProjects', project, '--bail', '--forceExit');
  });
}

const random = createRandom(Number(values.seed), 'mutants');
const places = FOLDERS.flatMap((folder) => globSync(`${folder}/**/*.ts`))
  .filter((path) => !path.endsWith('.test.ts'))
  .sort()
  .flatMap((path) => findMutations(path, readFileSync(path, 'utf8')).map((mutation) => ({ path, mutation })));
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
    killer = findKiller(values.projects.split(','));
  } finally {
    writeFileSync(path, text);
  }
  if (killer === 'compiler') continue; // it can't run
  count++;
  const by = killer ?? 'SURVIVED';
  killers.set(by, (killers.get(by) ?? 0) + 1);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const change = `${text.split('\n')[line - 1]?.trim()}  →  ${mutant.split('\n')[line - 1]?.trim()}`;
  console.log(`${by.padEnd(11)} ${String(seconds).padStart(4)} s  ${path}:${line}  ${change}`);
}
console.log([...killers].map(([by, count]) => `${by} ${count}`).join(', '));
