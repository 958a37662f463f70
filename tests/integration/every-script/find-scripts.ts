import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** A Lua script that the service runs. */
export type FoundScript = {
  /** Of the constant, or of the function that makes it; with that of its file where two have the same. */
  readonly name: string;
  readonly file: string;
  /** The first line of its comment, which no other script has. */
  readonly header: string;
};

const SOURCES = '{packages/{queue,store,history},apps/*}/src/**/*.ts';
/** Where a script is made callable or sent: the text of its argument. */
const CALLS = [
  /\bdefine(?:Replicated)?Script\(\s*[\w.]+,\s*([^)]+?\)?)\s*\)/g,
  /\bdefineScript\('\w+', ([^)]+?\)?)\)/g,
  /\baddScript\(pipeline, (\w+),/g,
  /'EVAL', ([^,\s]+),/g,
];
/** Where a script is sent. Only what makes scripts callable does it, and what asks what its user may do. */
const SENT = /\.eval(?:sha)?\(|'EVAL(?:SHA)?',/;
const SENDERS = ['packages/store/src/redis/script.ts', 'packages/store/src/redis/check-permissions.ts'];
/** What stands there where the script comes from elsewhere, by file. */
const PASSED_ON: Readonly<Record<string, readonly string[]>> = {
  // Those of the library that counts requests are its own.
  'packages/store/src/redis/script.ts': ['lua'],
  'packages/store/src/redis/await-replication.ts': ['lua', '`redis.call('],
};

/**
 * Every script that the code runs, found in its text: a new one is in by itself.
 * @throws Error where a call names no script that can be found, or a script is sent past `defineScript`
 */
export function findScripts(): readonly FoundScript[] {
  const files = globSync(SOURCES).filter((file) => !file.endsWith('.test.ts'));
  const texts = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
  const found = new Map<string, FoundScript>();
  for (const [file, text] of texts) {
    if (SENT.test(text) && !SENDERS.includes(file))
      throw new Error(`${file} sends a script by itself: use defineScript`);
    for (const argument of CALLS.flatMap((call) => [...text.matchAll(call)].map(([, given = '']) => given))) {
      if (argument === 'lua' || PASSED_ON[file]?.some((start) => argument.startsWith(start))) continue;
      const name = /^(\w+)(?:\(\w+\))?$/.exec(argument)?.[1];
      if (name === undefined) throw new Error(`${file} runs a script that can't be told: ${argument}`);
      const script = declarationOf(name, file, texts);
      found.set(`${name} ${script.file}`, script);
    }
  }
  const names = [...found.values()].map(({ name }) => name);
  const isTwice = (name: string) => names.indexOf(name) < names.lastIndexOf(name);
  const scripts = [...found.values()]
    .map((script) => ({ ...script, name: isTwice(script.name) ? `${script.name} of ${fileOf(script)}` : script.name }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const headers = new Set(scripts.map(({ header }) => header));
  if (headers.size < scripts.length) throw new Error('two scripts begin with the same comment');
  const unused = findUnused([...texts.values()], new Set(names));
  if (unused.length > 0) throw new Error(`Lua that is part of no other and run by no call: ${unused.join(', ')}`);
  return scripts;
}

/** What is neither run nor part of another: it may be run in a way that this file doesn't see. */
function findUnused(texts: readonly string[], found: ReadonlySet<string>): string[] {
  const all = texts.join('\n');
  const declared = [...all.matchAll(/const (\w+) = \/\* lua \*\//g)].map(([, name = '']) => name);
  return declared.filter((name) => !found.has(name) && !all.includes(`\${${name}}`));
}

const fileOf = ({ file }: FoundScript) => basename(file, '.ts');

function declarationOf(name: string, user: string, texts: ReadonlyMap<string, string>): FoundScript {
  const declaration = new RegExp(
    `(?:const ${name} = |function ${name}\\([^)]*\\)[^]{0,20}\\{\\s+return )/\\* lua \\*/ \`(?:#!lua [^\\n]*)?\\s*(-- [^\\n]+)`,
  );
  // Names of constants that no other file sees may repeat.
  for (const [file, text] of [[user, texts.get(user) ?? ''] as const, ...texts]) {
    const header = declaration.exec(text)?.[1];
    if (header !== undefined) return { name, file, header };
  }
  throw new Error(`${name}, which ${user} runs, is declared nowhere with a comment of its own`);
}
