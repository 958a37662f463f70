import { globSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The texts of Lua of all sources, as they are when their modules have been loaded. */
export type CollectedLua = ReadonlyMap<string, ReadonlyMap<string, string | ((part: string) => string)>>;

const REPOSITORY = join(import.meta.dirname, '../..');
const SOURCES = '{packages/{queue,store},apps/{api,cli,worker}}/src/**/*.ts';
/** A constant, or a function that makes a text of a part that it is given. */
const DECLARATION = /^(?:export )?(?:const (\w+) = |function (\w+)\([^)]*\)[^{]*\{\s+return )\/\* lua \*\//gm;
const MARK = 'lua$';

/**
 * Loads every source with Lua, and reads all of it, what a module keeps to itself too: by file, then by name. Only one
 * process may do it, and once: it changes how modules are loaded.
 */
export async function collectLua(): Promise<CollectedLua> {
  const withLua = new Set<string>();
  const hooks = registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!/\/(?:packages|apps)\/\w+\/src\/.*\.ts$/.test(url)) return loaded;
      const text =
        typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source ?? undefined);
      const names = [...text.matchAll(DECLARATION)].map(([, constant, maker]) => constant ?? maker ?? '');
      if (names.length === 0) return loaded;
      withLua.add(url);
      return {
        ...loaded,
        source: `${text}\nexport { ${names.map((name) => `${name} as ${MARK}${name}`).join(', ')} };\n`,
      };
    },
  });
  const files = globSync(SOURCES, { cwd: REPOSITORY }).filter((file) => !/(?:\.test|\/main)\.ts$/.test(file));
  const found = new Map<string, ReadonlyMap<string, string | ((part: string) => string)>>();
  try {
    for (const file of files) {
      const { href } = pathToFileURL(join(REPOSITORY, file));
      const loaded = (await import(href)) as Record<string, string | ((part: string) => string)>;
      const own = Object.entries(loaded).filter(([name]) => name.startsWith(MARK));
      if (withLua.has(href)) found.set(file, new Map(own.map(([name, lua]) => [name.slice(MARK.length), lua])));
    }
  } finally {
    hooks.deregister();
  }
  return found;
}
