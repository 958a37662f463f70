import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'oxfmt';
import { REFERENCE_PAGES } from './reference/pages.ts';

// `npm run docs:reference` writes the reference pages of docs/ from the tables in the code.
for (const [name, render] of Object.entries(REFERENCE_PAGES)) {
  const { code, errors } = await format(name, render(), { printWidth: 120, proseWrap: 'always' });
  if (errors.length > 0) throw new Error(`${name}: ${errors.map(({ message }) => message).join('; ')}`);
  writeFileSync(join(import.meta.dirname, '../docs', name), code);
}
