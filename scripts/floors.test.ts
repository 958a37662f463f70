import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const REPOSITORY = join(import.meta.dirname, '..');
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
