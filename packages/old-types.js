#!/usr/bin/env node
import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';

// The compiler leaves `./event.ts` in the types that it writes, which TypeScript reads since 5.0. Who installs a package may
// have 4.9: there the files name each other as the JavaScript beside them does.

/** Of what others install. */
const TYPES = '{receiver,client}/{dist,cjs}/**/*.d.ts';

for (const file of globSync(TYPES, { cwd: import.meta.dirname })) {
  const path = new URL(file, import.meta.url);
  const text = await readFile(path, 'utf8');
  const named = text.replaceAll(/((?:from |import\()['"]\.[^'"\n]*)\.ts(?=['"])/g, '$1.js');
  if (named !== text) await writeFile(path, named);
}
