import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Env } from './start-herald-process.ts';

/** One try to open a TCP connection. */
export interface Dial {
  readonly address: string;
  readonly port: number;
}

export interface Dials extends AsyncDisposable {
  /** For the environment of the process that is to be watched. */
  readonly env: Env;
  /** Those since the last call, but to these ports of the process's own. */
  taken(ownPorts: readonly number[]): Promise<Dial[]>;
}

const RECORDER = new URL('./record-dials.ts', import.meta.url).href;

/** Watches which addresses a process dials. Nothing that isn't on loopback is reached. */
export async function watchDials(): Promise<Dials> {
  const dir = await mkdtemp(join(tmpdir(), 'herald-dials-'));
  const file = join(dir, 'dials.jsonl');
  await writeFile(file, '');
  let seen = 0;
  return {
    env: { NODE_OPTIONS: `--import=${RECORDER}`, DIALS_FILE: file },
    async taken(ownPorts) {
      const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
      const fresh = lines.slice(seen).map((line) => JSON.parse(line) as Dial);
      seen = lines.length;
      return fresh.filter(({ port }) => !ownPorts.includes(port));
    },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}
