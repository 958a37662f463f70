import { READINESS_CODES } from '@herald/core';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REFERENCE_PAGES } from './pages.ts';

const REPOSITORY = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(REPOSITORY, path), 'utf8');
/** Without what formatting adds: line breaks, and the width of columns. */
const words = (text: string) => text.replaceAll(/-{3,}/g, '---').replaceAll(/\s+/g, ' ').trim();

test.each(Object.entries(REFERENCE_PAGES))(
  'docs/%s says what the code says; "npm run docs:reference" makes it anew',
  (name, render) => {
    expect(words(read(`docs/${name}`))).toBe(words(render()));
  },
);

/** The checks whose findings `/readyz` shows. */
const CHECKS = [
  'packages/store/src/operators/create-readiness.ts',
  'packages/store/src/redis/{clock,check-master,check-permissions}.ts',
  'packages/store/src/data/{data-loss,shard-record,open-shards}.ts',
  'apps/worker/src/egress.ts',
  'packages/store/src/lists/history-mark.ts',
  'apps/worker/src/history.ts',
];

/** Codes of a start alone: a running process looks at the record, not at the data. */
const ONLY_AT_START = ['shards_mixed', 'shards_changed'];

test('the codes of /readyz are those of the checks that it makes', () => {
  const found = globSync(CHECKS, { cwd: REPOSITORY }).flatMap((path) =>
    [...read(path).matchAll(/\b(?:error|warning|unavailable)\(\s*'([a-z_]+)'/g)].map(([, code = '']) => code),
  );
  // The judge of the work tells of missing workers, here and elsewhere.
  const expected = new Set([...found.filter((code) => !ONLY_AT_START.includes(code)), 'no_worker']);
  expect(Object.keys(READINESS_CODES).sort()).toEqual([...expected].sort());
});
