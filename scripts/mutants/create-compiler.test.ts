import { readFileSync } from 'node:fs';
import { createCompiler } from './create-compiler.ts';

const PATH = 'packages/core/src/codes/code-table.ts';
/** It imports the first, and so names it in another way. */
const IMPORTER = 'packages/core/src/codes/attempt-errors.ts';

test('the compiler refuses a file for what is changed in it, and takes it as it is on the disk again', () => {
  const compiler = createCompiler([IMPORTER, PATH]);
  const text = readFileSync(PATH, 'utf8');
  const changes = [text, `${text}\nconst a: string = 1;`, `${text}\nawait (;`, `${text}\nconst a = 1;`];
  expect(changes.map((each) => compiler.refuses(PATH, each))).toEqual([false, true, true, false]);
  expect(compiler.refuses(PATH, text)).toBe(false);
}, 60_000);
