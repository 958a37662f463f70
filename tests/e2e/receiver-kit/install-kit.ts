import { startProcess } from '@herald/test-kit';
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

export interface CustomerFolder extends AsyncDisposable {
  path: string;
}

/** A customer's folder: the kit as npm would publish it, and the libraries that he has anyway. */
export async function installKit(): Promise<CustomerFolder> {
  const path = await mkdtemp(join(tmpdir(), 'herald-customer-'));
  const remove = () => rm(path, { recursive: true, force: true });
  try {
    await run('npm', ['pack', join(ROOT, 'packages/receiver'), '--pack-destination', path, '--ignore-scripts'], path);
    const kit = join(path, 'node_modules/@herald/receiver');
    await mkdir(kit, { recursive: true });
    const packed = (await readdir(path)).find((name) => name.endsWith('.tgz'));
    if (packed === undefined) throw new Error('npm pack left no package');
    await run('tar', ['-xzf', join(path, packed), '-C', kit, '--strip-components=1'], path);
    for (const library of ['express', 'ioredis']) {
      await symlink(join(ROOT, 'node_modules', library), join(path, 'node_modules', library));
    }
    return { path, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function run(command: string, args: readonly string[], home: string): Promise<void> {
  const ran = await startProcess({ name: command, command, args, env: { HOME: home } });
  const { code } = await ran.exited;
  if (code !== 0) throw new Error(`${command} ended with ${String(code)}\n${ran.tail()}`);
}
