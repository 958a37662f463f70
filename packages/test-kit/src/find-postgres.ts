import { globSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { findExecutable } from './find-redis-server.ts';

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
