import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** One file in every encoding in which it may be sent. */
export type BuiltFile = {
  readonly type: string;
  readonly bytes: Readonly<Record<'identity' | 'gzip' | 'br', Buffer>>;
};

export type BuiltFiles = ReadonlyMap<string, BuiltFile>;

/** Reads the built console, by path such as `/index.html`. They are a few hundred kB. Undefined: it is not built. */
export function readBuiltFiles(folder: string): BuiltFiles | undefined {
  if (!existsSync(join(folder, 'index.html.br'))) return undefined;
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return new Map(
    names.flatMap((name) => {
      const type = TYPES[extname(name)];
      if (type === undefined) return [];
      const file = join(folder, name);
      const bytes = {
        identity: readFileSync(file),
        gzip: readFileSync(`${file}.gz`),
        br: readFileSync(`${file}.br`),
      };
      return [[`/${name}`, { type, bytes }] as const];
    }),
  );
}
