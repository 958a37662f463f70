import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The oldest compiler that the packages are for. */
const COMPILER = join(import.meta.dirname, '../../node_modules/typescript-4.9/bin/tsc');

/** How programs are compiled that use a package: as ES modules and CommonJS of Node, and as TypeScript did before. */
const WAYS = [
  { files: ['use.mts', 'use.cts'], options: ['--module', 'node16', '--moduleResolution', 'node16'] },
  { files: ['use.ts'], options: ['--module', 'commonjs', '--moduleResolution', 'node'] },
];

/**
 * What TypeScript 4.9 complains of in the types of a package, all of them read, where there are no `@types/node`; empty:
 * nothing.
 * @param dir has the package in its `node_modules`
 */
export async function judgeTypes(dir: string, name: string): Promise<string[]> {
  const judged = await Promise.all(
    WAYS.map(async ({ files, options }) => {
      const use = `import * as all from '${name}';\nexport const { length }: string[] = Object.keys(all);\n`;
      for (const file of files) await writeFile(join(dir, file), use);
      const base = ['--noEmit', '--strict', '--target', 'es2022', '--typeRoots', join(dir, 'none')];
      return compile(dir, [...base, ...options, ...files]);
    }),
  );
  return judged.filter((complaints) => complaints !== '');
}

function compile(cwd: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [COMPILER, ...args], { cwd }, (error, stdout, stderr) => {
      resolve(error === null ? '' : `TypeScript 4.9: ${stdout}${stderr}`);
    });
  });
}
