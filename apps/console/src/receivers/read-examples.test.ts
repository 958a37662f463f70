import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXAMPLE_FILES, readExamples } from './read-examples.ts';

const README = join(import.meta.dirname, '../../../../packages/receiver/README.md');

test.each(EXAMPLE_FILES)('the README of the kit has the example %s', (file) => {
  expect(readExamples(readFileSync(README, 'utf8')).get(file)).toMatch(/\S/);
});
