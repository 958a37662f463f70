import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { REFERENCE_PAGES } from './reference/pages.ts';

// `npm run docs:reference` writes the reference pages of docs/ from the tables in the code.
for (const [name, render] of Object.entries(REFERENCE_PAGES)) {
  const path = join(import.meta.dirname, '../docs', name);
  writeFileSync(path, await format(render(), { ...(await resolveConfig(path)), filepath: path }));
}
