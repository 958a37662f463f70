import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const REPOSITORY = join(import.meta.dirname, '../../..');
/** A logger's own methods, and `logChange`, which takes the level first. */
const CALL = /\b(?:\w*[lL]ogger(?:\(\))?\??(?:\.(error|warn|info|debug)|\[[^\]]+\])\(|logChange\('(\w+)',)\s*([^,)]*)/g;
const EVENT = /'([a-z_]+\.[a-z_]+)'/g;

type Levels = Map<string, Set<string>>;

function note(levels: Levels, event: string, level: string | undefined): void {
  const known = levels.get(event) ?? new Set();
  if (level !== undefined) known.add(level);
  levels.set(event, known);
}

/** Events in the sources, with the levels that show there. */
function findInSources(): Levels {
  const found: Levels = new Map();
  for (const root of [
    'apps',
    ...['core', 'runtime', 'egress', 'queue', 'store', 'history', 'config'].map((name) => `packages/${name}`),
  ].map((folder) => join(REPOSITORY, folder))) {
    for (const path of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
      if (!/(^|\/)src\/.*\.ts$/.test(path) || path.endsWith('.test.ts') || path.includes('node_modules')) continue;
      for (const [, own, given, first = ''] of readFileSync(join(root, path), 'utf8').matchAll(CALL)) {
        for (const [, event = ''] of first.matchAll(EVENT)) note(found, event, own ?? given);
      }
    }
  }
  return found;
}

/** Events in docs/logs.md: rows that begin with a name and its levels. */
function findInDocument(): Levels {
  const found: Levels = new Map();
  for (const line of readFileSync(join(REPOSITORY, 'docs/logs.md'), 'utf8').split('\n')) {
    const [, event, levels = ''] = /^\| `([a-z_]+\.[a-z_]+)` +\| ([a-z, ]+?) +\|/.exec(line) ?? [];
    if (event !== undefined) for (const level of levels.split(', ')) note(found, event, level);
  }
  return found;
}

test('docs/logs.md lists every event that the processes log, and no other', () => {
  const inSources = [...findInSources().keys()].sort();
  expect(inSources.length).toBeGreaterThan(30);
  expect([...findInDocument().keys()].sort()).toEqual(inSources);
});

test('docs/logs.md gives every event the levels that the sources give it', () => {
  const documented = findInDocument();
  const wrong = [...findInSources()].filter(([event, levels]) =>
    [...levels].some((level) => !documented.get(event)?.has(level)),
  );
  expect(wrong).toEqual([]);
});
