import { hasCode } from '@herald/test-kit';
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { History } from '../../support/start-history.ts';

export interface SmallDisk extends Disposable {
  /** Leaves no room for rows. */
  fill(): Promise<void> | void;
  /** Makes room again. */
  clear(): Promise<void> | void;
}

/** As whom PostgreSQL runs when we are root. */
const NOBODY = 65_534;

/** Who may mount a file system: root, where the system lets it. */
export function canMount(): boolean {
  const mount = ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()];
  return process.getuid?.() === 0 && spawnSync('unshare', mount).status === 0;
}

/** All tables that are made from now on lie on a file system of their own, of 8 MB. */
export async function mountSmallDisk({ pool }: History): Promise<SmallDisk> {
  const folder = mkdtempSync(join(tmpdir(), 'herald-small-disk-'));
  const ballast = join(folder, 'ballast');
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=8m,mode=0700,uid=${NOBODY},gid=${NOBODY}`, 'tmpfs', folder]);
  await pool.query(`CREATE TABLESPACE small LOCATION '${folder}'`);
  await pool.query('ALTER ROLE postgres SET default_tablespace = small');
  return {
    fill() {
      const file = openSync(ballast, 'w');
      try {
        for (const chunk = Buffer.alloc(4_096); ;) writeSync(file, chunk);
      } catch (error) {
        if (!hasCode(error, 'ENOSPC')) throw error;
      } finally {
        closeSync(file);
      }
    },
    clear() {
      rmSync(ballast);
    },
    [Symbol.dispose]() {
      execFileSync('umount', ['--lazy', folder]);
      rmdirSync(folder);
    },
  };
}

/** Says what PostgreSQL says on a full disk, for those who may not mount one. */
export async function pretendSmallDisk({ pool }: History): Promise<SmallDisk> {
  await pool.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION USING ERRCODE = 'disk_full', MESSAGE = 'could not extend file: No space left on device';
  END $$`);
  return {
    async fill() {
      await pool.query(
        'CREATE TRIGGER full_disk BEFORE INSERT ON herald.deliveries FOR EACH STATEMENT EXECUTE FUNCTION refuse()',
      );
    },
    async clear() {
      await pool.query('DROP TRIGGER full_disk ON herald.deliveries');
    },
    [Symbol.dispose]: () => undefined,
  };
}
