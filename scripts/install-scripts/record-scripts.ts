import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface ScriptRecorder {
  /** Environment of an npm process: it runs every script through a shell that records the script's name. */
  readonly env: Readonly<Record<string, string>>;
  /** The scripts that have run so far, in order, such as `postinstall some-package`. */
  read(): Promise<readonly string[]>;
}

/** Keeps its shell and its list in `folder`, whose path must contain no quote. */
export async function createScriptRecorder(folder: string): Promise<ScriptRecorder> {
  const list = join(folder, 'scripts-that-ran.txt');
  const shell = join(folder, 'recording-shell');
  await writeFile(list, '');
  await writeFile(shell, `#!/bin/sh\necho "$npm_lifecycle_event $npm_package_name" >> '${list}'\nexec /bin/sh "$@"\n`);
  await chmod(shell, 0o755);
  return {
    env: { npm_config_script_shell: shell },
    read: async () => (await readFile(list, 'utf8')).split('\n').filter((line) => line !== ''),
  };
}
