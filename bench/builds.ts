import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';

/** A built checkout to measure. Load generators, receivers, floors and Redis always come from this checkout. */
export type Build = { readonly name: 'this build' | 'beside'; readonly folder: string };

export type HeraldProgram = 'api' | 'worker' | 'cli';

export const THIS_BUILD: Build = { name: 'this build', folder: join(import.meta.dirname, '..') };

const PROGRAMS: readonly HeraldProgram[] = ['api', 'worker', 'cli'];
const OWN_PACKAGES = 'node_modules/@herald';

export function programOf({ folder }: Build, program: HeraldProgram): string {
  return join(folder, 'apps', program, 'dist/main.js');
}

/** Options of Node in the build's image. */
export function nodeOptionsOf({ folder }: Build): string {
  return /^ENV NODE_OPTIONS=(.+)$/m.exec(readFileSync(join(folder, 'Dockerfile'), 'utf8'))?.[1] ?? '';
}

/**
 * The build to compare with. This checkout itself is allowed: its ratios show the noise.
 * @throws Error with a sentence for the user
 */
export function findBuildBeside(directory: string): Build {
  const build: Build = { name: 'beside', folder: resolve(directory) };
  const refuse = (why: string): never => {
    throw new Error(`--beside ${directory}: ${why}`);
  };
  if (!statSync(build.folder, { throwIfNoEntry: false })?.isDirectory()) refuse('there is no such directory');
  if (!existsSync(join(build.folder, 'Dockerfile'))) refuse('this is no checkout of Herald; it has no Dockerfile');
  if (!existsSync(join(build.folder, OWN_PACKAGES))) refuse('it is not installed. Type there: npm ci');
  const missing = PROGRAMS.map((program) => programOf(build, program)).find((file) => !existsSync(file));
  if (missing !== undefined) refuse(`it is not built, ${missing} is missing. Type there: npm run build`);
  const foreign = findForeignPackage(build);
  // Its processes would run another checkout's code, and the ratio would mean nothing.
  if (foreign !== undefined) refuse(`its packages are those of another checkout (${foreign}). Type there: npm ci`);
  return build;
}

/** The target of a Herald package that is outside the checkout, as with a borrowed node_modules. */
function findForeignPackage({ folder }: Build): string | undefined {
  const inside = realpathSync(folder) + sep;
  const packages = readdirSync(join(folder, OWN_PACKAGES)).map((name) => join(folder, OWN_PACKAGES, name));
  return packages
    .filter((link) => existsSync(link))
    .map((link) => realpathSync(link))
    .find((path) => !path.startsWith(inside));
}
