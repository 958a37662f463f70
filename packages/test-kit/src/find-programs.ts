import { accessSync, constants, globSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/** The path of redis-server, or of valkey-server, its drop-in replacement; undefined when the PATH has neither. */
export function findRedisServer(path = process.env.PATH ?? ''): string | undefined {
  return findExecutable('redis-server', path) ?? findExecutable('valkey-server', path);
}

/** The path of a program that the PATH has. */
export function findExecutable(name: string, path = process.env.PATH ?? ''): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Where packages put the programs of the server, which Debian and Red Hat keep off the PATH. */
const FOLDERS = ['/usr/lib/postgresql/*/bin', '/usr/pgsql-*/bin', '/usr/libexec/postgresql*'];

/**
 * The folder with the programs of a PostgreSQL server, the newest if there are several; undefined when there is none.
 * @param path that of the PATH, then `folders`, are searched
 */
export function findPostgres(path = process.env.PATH ?? '', folders = FOLDERS): string | undefined {
  // Only beside the server itself is initdb certain to be of its version.
  const onPath = findExecutable('postgres', path);
  if (onPath !== undefined) return dirname(realpathSync(onPath));
  const versionOf = (folder: string) => Number(/(\d+)\D*$/.exec(folder)?.[1] ?? 0);
  return folders
    .flatMap((pattern) => globSync(pattern))
    .sort((a, b) => versionOf(b) - versionOf(a))
    .find((folder) => findExecutable('postgres', folder) !== undefined);
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The path of Chromium, or of Chrome; undefined when the PATH has neither. */
export function findChromium(path = process.env.PATH ?? ''): string | undefined {
  return NAMES.map((name) => findExecutable(name, path)).find((file) => file !== undefined);
}
