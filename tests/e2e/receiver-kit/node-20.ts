import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

function versionOf(node: string): string {
  return execFileSync(node, ['--version'], { encoding: 'utf8' });
}

/** The oldest Node that the kit is for, if one is on the PATH; undefined where there is none. */
export function findNode20(): string | undefined {
  const candidates = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  return candidates.find((node) => existsSync(node) && versionOf(node).startsWith('v20.'));
}
