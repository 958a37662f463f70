import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const REPOSITORY = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(REPOSITORY, file), 'utf8');
const PACKAGES = globSync(['packages/*/src', 'apps/*/src'], { cwd: REPOSITORY }).sort();
const IMPORT = /^(?:import|export)\b[^;]*? from '(\.[^']+)';/gm;
/** A reader can hold so many in mind. */
const MOST_FLOORS = 6;

/** Folders, and the files that stand in none, with those that they import. */
function readArrows(root: string): Map<string, Set<string>> {
  const nodeOf = (file: string): string => (dirname(file) === '.' ? file : dirname(file));
  const arrows = new Map<string, Set<string>>();
  for (const file of globSync('**/*.ts', { cwd: join(REPOSITORY, root) })) {
    if (file.endsWith('.test.ts')) continue;
    const node = nodeOf(file);
    const targets = arrows.get(node) ?? new Set();
    arrows.set(node, targets);
    for (const [, path = ''] of readFileSync(join(REPOSITORY, root, file), 'utf8').matchAll(IMPORT)) {
      const target = nodeOf(relative('.', join(dirname(file), path)));
      if (target !== node) targets.add(target);
    }
  }
  return arrows;
}

/**
 * How many folders stand under each other from this one down; the ground floor is 1.
 * @throws Error with a circle, if there is one
 */
function countFloors(arrows: ReadonlyMap<string, ReadonlySet<string>>, node: string, above: readonly string[]): number {
  if (above.includes(node)) throw new Error(`a circle: ${[...above, node].join(' → ')}`);
  // A file in no folder starts a package or is shared by its folders: it is no floor of its own.
  const own = node.endsWith('.ts') ? 0 : 1;
  const below = [...(arrows.get(node) ?? [])].map((target) => countFloors(arrows, target, [...above, node]));
  return own + Math.max(0, ...below);
}

test.each(PACKAGES)('%s has no circle of folders, and six floors at most', (root) => {
  const arrows = readArrows(root);
  expect(arrows.size).toBeGreaterThan(0);
  const floors = [...arrows.keys()].map((node) => ({ node, floors: countFloors(arrows, node, []) }));
  expect(floors.filter(({ floors: count }) => count > MOST_FLOORS)).toEqual([]);
});

/** No longer than this is a paragraph, which stands in the one file that needs it. */
const PARAGRAPH_LINES = 60;
/** Those that stay by themselves, with the reason. At most fifteen. */
const STAY: Readonly<Record<string, string>> = {
  'apps/cli/src/run-command.ts': 'tests run commands by it, without a process',
  'apps/console/src/charts/scale.ts': 'tests read it without a browser',
  'apps/console/src/main.tsx': 'early.ts asks the API before it loads this, the rest of the program',
  'apps/console/src/receivers/read-examples.ts': 'tests read it without a browser',
  'apps/console/src/shell/find-by-id.ts': 'tests read it without a browser',
  'apps/worker/src/health.ts': 'what answers at WORKER_PORT, which nothing else of the worker needs to know',
  'packages/receiver/src/cli/trigger.ts': 'one of three commands, a file each',
};

/** Short files whose only importer stands in the same folder. A test is no importer: it goes where its subject goes. */
function findParagraphs(): string[] {
  const files = globSync('{packages/*/src,apps/*/src,bench,chaos,scripts}/**/*.{ts,tsx}', { cwd: REPOSITORY }).filter(
    (file) => !/\.test\.tsx?$/.test(file),
  );
  const importers = new Map(files.map((file) => [file, new Set<string>()]));
  for (const file of files) {
    for (const [, path = ''] of read(file).matchAll(/(?:\bfrom |\bimport\()\s*'([^']+)'/g)) {
      const [, name, rest] = /^@herald\/([\w-]+)\/(.+)$/.exec(path) ?? [];
      importers.get(name === undefined ? join(dirname(file), path) : `packages/${name}/src/${rest}.ts`)?.add(file);
    }
  }
  return files.filter((file) => {
    const [only, ...others] = importers.get(file) ?? [];
    // An index is a face, not a reader.
    if (only === undefined || others.length > 0 || dirname(only) !== dirname(file) || only.endsWith('/index.ts'))
      return false;
    return read(file).trimEnd().split('\n').length <= PARAGRAPH_LINES;
  });
}

test('what only one neighbour needs, and is short, stands in that neighbour', () => {
  expect(findParagraphs().sort()).toEqual(Object.keys(STAY).sort());
  expect(Object.keys(STAY).length).toBeLessThanOrEqual(15);
});
