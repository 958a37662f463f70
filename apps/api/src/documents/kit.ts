import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TYPES: Readonly<Record<string, string>> = { tgz: 'application/gzip', whl: 'application/zip' };
const KIT_FILE = /^herald[-_]receiver-.*\.(tgz|whl)$/;

/** The kits as files, and receivers to copy in every language. */
export type Kit = {
  readonly files: ReadonlyMap<string, { readonly type: string; readonly bytes: Buffer }>;
  /** Of `@herald/receiver` for npm, and of `herald-receiver` for pip. */
  readonly nodeName: string;
  readonly pythonName: string;
  /** By the names of their files. Tests run them all. */
  readonly examples: Readonly<Record<string, string>>;
};

/** Reads what `npm run build` has made of the kits: some 140 kB. Undefined: it is not built. */
export function readKit(folder: string): Kit | undefined {
  const examples = join(folder, 'examples.json');
  if (!existsSync(examples)) return undefined;
  const names = readdirSync(folder).filter((name) => KIT_FILE.test(name));
  const files = names.map((name) => {
    const type = TYPES[KIT_FILE.exec(name)?.[1] ?? ''] ?? 'application/octet-stream';
    return [name, { type, bytes: readFileSync(join(folder, name)) }] as const;
  });
  return {
    files: new Map(files),
    nodeName: names.find((name) => name.endsWith('.tgz')) ?? '',
    pythonName: names.find((name) => name.endsWith('.whl')) ?? '',
    examples: JSON.parse(readFileSync(examples, 'utf8')) as Record<string, string>,
  };
}
