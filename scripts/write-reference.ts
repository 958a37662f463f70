import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REFERENCE_PAGES } from './reference/pages.ts';

// `npm run docs:reference` writes the reference pages of docs/ from the tables in the code, and then formats them.
for (const [name, render] of Object.entries(REFERENCE_PAGES))
  writeFileSync(join(import.meta.dirname, '../docs', name), render());
