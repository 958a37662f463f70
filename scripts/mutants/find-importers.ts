import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const IMPORT = /(?:from|import) '([^']+)'/g;

/** The file, from the root, that an import names; undefined when it is not one of ours. */
function resolveImport(importer: string, name: string): string | undefined {
  if (name.startsWith('.')) return join(dirname(importer), name);
  const [, pack, path = 'index'] = /^@herald\/([^/]+)(?:\/(.+))?$/.exec(name) ?? [];
  return pack === undefined ? undefined : `packages/${pack}/src/${path}.ts`;
}

/** The files of ours, from the root, that a file imports itself. */
export function importsOf(file: string): string[] {
  if (!existsSync(file)) return [];
  return [...readFileSync(file, 'utf8').matchAll(IMPORT)].flatMap(([, name = '']) => resolveImport(file, name) ?? []);
}

/** Those of `files` that import `path`, directly or through others. Paths are from the root. */
export function findImporters(files: readonly string[], path: string): string[] {
  const known = new Map<string, boolean>();
  const imports = (file: string): boolean => {
    const before = known.get(file);
    if (before !== undefined) return before;
    known.set(file, file === path); // also ends circles
    if (file === path) return true;
    const found = importsOf(file).some(imports);
    known.set(file, found);
    return found;
  };
  return files.filter((file) => imports(file));
}
