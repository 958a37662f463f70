import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

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
