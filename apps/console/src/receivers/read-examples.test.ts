import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXAMPLE_FILES, readExamples } from './read-examples.ts';

const PACKAGES = join(import.meta.dirname, '../../../../packages');

test.each(EXAMPLE_FILES)('the README of a kit has the example %s', (file) => {
  const pages = ['receiver', 'receiver-python'].map((kit) => readFileSync(join(PACKAGES, kit, 'README.md'), 'utf8'));
  expect(readExamples(pages.join('\n')).get(file)).toMatch(/\S/);
});
