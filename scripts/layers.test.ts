import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const { MAY_IMPORT } = createRequire(import.meta.url)('./layers.cjs') as {
  MAY_IMPORT: Readonly<Record<string, readonly string[]>>;
};
const nameOf = (folder: string) => folder.replace(/^\w+\//, '');
const drawn = readArrows(readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8'));

/** What each node of the picture points at. */
function readArrows(page: string): Map<string, Set<string>> {
  const arrows = new Map<string, Set<string>>();
  const [picture = ''] = /```mermaid\n[^]*?```/.exec(page) ?? [];
  for (const [, from = '', to = ''] of picture.matchAll(/^ *([\w &]+) --> ([\w &]+)$/gm)) {
    for (const each of from.split(' & ')) arrows.set(each, new Set([...(arrows.get(each) ?? []), ...to.split(' & ')]));
  }
  return arrows;
}

/** Everything that the arrows lead to from here. */
function reach(name: string): Set<string> {
  const direct = [...(drawn.get(name) ?? [])];
  return new Set(direct.flatMap((each) => [each, ...reach(each)]));
}

test('every package and app has its line in the table of layers', () => {
  const folders = globSync('{packages,apps}/*/package.json', { cwd: ROOT }).map((path) =>
    path.replace('/package.json', ''),
  );
  expect(Object.keys(MAY_IMPORT).sort()).toEqual(folders.sort());
});

test.each(Object.entries(MAY_IMPORT))('%s imports all that it may, and no more', (folder, allowed) => {
  const sources = globSync(`${folder}/src/**/*.{ts,tsx}`, { cwd: ROOT }).filter((file) => !/\.test\.tsx?$/.test(file));
  const texts = sources.map((file) => readFileSync(join(ROOT, file), 'utf8'));
  const found = texts.flatMap((text) =>
    [...text.matchAll(/(?:from |import\()'@herald\/([\w-]+)(?:\/[\w/.-]+)?'/g)].map(([, name]) => name),
  );
  expect([...new Set(found)].sort()).toEqual([...allowed].sort());
});

test('the picture of the architecture has the arrows of the table, but for those that follow from others', () => {
  const wrong = [...drawn].flatMap(([from, to]) => {
    const allowed = Object.entries(MAY_IMPORT).find(([folder]) => nameOf(folder) === from)?.[1] ?? [];
    return [...to].filter((name) => !allowed.includes(name)).map((name) => `${from} → ${name}`);
  });
  expect(wrong).toEqual([]);
  const missing = Object.entries(MAY_IMPORT).flatMap(([folder, allowed]) => {
    const reached = reach(nameOf(folder));
    return allowed.filter((name) => !reached.has(name)).map((name) => `${folder} → ${name}`);
  });
  expect(missing).toEqual([]);
});
