import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PAGES = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md', 'packages/*/README.md'], { cwd: ROOT }).sort();
const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');

/** A page without its blocks of code, whose comments look like headings. */
const proseOf = (page: string) => read(page).replace(/^ *```[^]*?^ *```$/gm, '');

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = (page: string) =>
  [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

function isThere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : normalize(join(dirname(page), path));
  if (!existsSync(join(ROOT, target))) return false;
  return anchor === undefined || anchorsOf(target).includes(anchor);
}

test.each(PAGES)('every relative link of %s leads somewhere', (page) => {
  const links = [...proseOf(page).matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)].map(([, link = '']) => link);
  expect(links.filter((link) => !isThere(page, link))).toEqual([]);
});

test.each(PAGES)('every path of the repository that %s names exists', (page) => {
  const named = [
    ...proseOf(page).matchAll(/`((?:apps|packages|tests|docs|scripts|bench|examples|ops|e2e|integration)\/[^`\s]*)`/g),
  ];
  const paths = named.map(([, path = '']) => path.replace(/^(?=e2e|integration)/, 'tests/'));
  // Build results are found by their sources. Tests may be named without their ending.
  const spellings = (path: string) => [
    path,
    path.replace('/dist/', '/src/').replace(/\.js$/, '.ts'),
    `${path}.test.ts`,
  ];
  expect(paths.filter((path) => !spellings(path).some((each) => existsSync(join(ROOT, each))))).toEqual([]);
});

// What a former release said stays.
const TYPED = [...PAGES.filter((page) => page !== 'CHANGELOG.md'), 'scripts/local/instructions.ts'];
test.each(TYPED)('%s has nobody install what a stranger may own', (page) => {
  // Outside of the repository, npx asks a public registry for a package of this name.
  expect(read(page).match(/npx (?:-y )?@?herald\S*/g)).toBeNull();
});

test.each(PAGES)('%s has no word that was to be replaced', (page) => {
  expect(proseOf(page).match(/\b(?:TODO|TBD|FIXME|XXX|BYHAND)\b/g)).toBeNull();
});

test('the index of the documents leads to every page', () => {
  const links = [...read('docs/README.md').matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, link = '']) => link);
  const pages = PAGES.filter((page) => /^docs\/(?!README)[^/]+$/.test(page)).map((page) => page.replace('docs/', ''));
  expect(pages.filter((page) => !links.includes(page))).toEqual([]);
});

test('the README fits on a few screens', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(151); // the last line ends too
});

test('every decision has a page or a row among the replaced ones, each once, by its number', () => {
  const replaced = 'docs/adr/superseded.md';
  const pages = PAGES.filter((page) => page.startsWith('docs/adr/') && page !== replaced);
  const numbers = pages.map((page) => Number(/\/(\d{4})-[a-z0-9-]+\.md$/.exec(page)?.[1]));
  expect(pages.map((page) => Number(/^# (\d+)\. /.exec(read(page))?.[1]))).toEqual(numbers);
  const all = [...numbers, ...[...read(replaced).matchAll(/^\| (\d+) +\|/gm)].map(([, number]) => Number(number))];
  expect(all.sort((a, b) => a - b)).toEqual(all.map((_, index) => index + 1));
});

test('a delivery is told in at most a dozen files, each with a function that it has', () => {
  const entries = read('docs/a-delivery.md').split(/^ *\d+\. (?=\*\*`)/m);
  const told = entries.slice(1).map((entry) => {
    const [, file = ''] = /^\*\*`([^`]+)`\*\*: `/.exec(entry) ?? [];
    const [, first = ''] = /`(\w+)`/.exec(entry.slice(entry.indexOf('**:'))) ?? [];
    return { file, first };
  });
  expect(told.length).toBeGreaterThan(8);
  expect(told.length).toBeLessThanOrEqual(12);
  expect(
    told.filter(
      ({ file, first }) =>
        !new RegExp(`^(?:export |const |function |async function ).*\\b${first}\\b`, 'm').test(read(file)),
    ),
  ).toEqual([]);
});

test('what the walk through a delivery calls by its name is the name of something in the files that it names', () => {
  const page = read('docs/a-delivery.md');
  const files = [...page.matchAll(/`((?:apps|packages)\/[\w/.-]+\.ts)`/g)].map(([, file = '']) => file);
  const ids = 'packages/core/src/ids/ids.ts';
  const facts = 'packages/core/src/transitions/fact.ts';
  const sources = [...new Set([...files, ids, facts])].map(read).join('\n');
  const names = [...page.matchAll(/`([a-z]+[A-Z]\w*|[A-Z]+_[A-Z_]*LUA|[A-Z]+_ROUTES)`/g)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(15);
  expect(names.filter((name) => !new RegExp(`\\b(?:function|const) ${name}\\b`).test(sources))).toEqual([]);
});
