import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const REPOSITORY = join(import.meta.dirname, '..');
const TEXT = readFileSync(join(REPOSITORY, 'docs/crash-points.md'), 'utf8').replaceAll(/\s+/g, ' ');
const PATHS = [...new Set([...TEXT.matchAll(/`((?:e2e|integration|soak)\/[\w/-]+)`/g)].map(([, path = '']) => path))];
const TITLES = [...TEXT.matchAll(/(?<=[\s|(])_([^_]+)_(?=[\s.,;:|)])/g)].map(([, title = '']) => title);

/** The files that a path names: a test, or a folder of tests. */
function filesOf(path: string): string[] {
  const base = join(REPOSITORY, 'tests', path);
  if (existsSync(`${base}.test.ts`)) return [`${base}.test.ts`];
  if (!statSync(base, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(base)
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(base, name));
}

function toPattern(text: string): string {
  return text.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

test('docs/crash-points.md names tests that there are', () => {
  expect(PATHS.length).toBeGreaterThan(20);
  expect(PATHS.filter((path) => filesOf(path).length === 0)).toEqual([]);
});

test('docs/crash-points.md quotes titles that these tests have; … stands for anything', () => {
  const sources = PATHS.flatMap(filesOf).map((file) => readFileSync(file, 'utf8').replaceAll(/\\'/g, "'"));
  const isKnown = (title: string) => {
    const pattern = new RegExp(title.split('…').map(toPattern).join('.*'));
    return sources.some((source) => pattern.test(source));
  };
  expect(TITLES.length).toBeGreaterThan(20);
  expect(TITLES.filter((title) => !isKnown(title))).toEqual([]);
});
