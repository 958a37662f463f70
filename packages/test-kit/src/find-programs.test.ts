import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPostgres, findRedisServer } from './find-programs.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'herald-path-'));
});
afterEach(() => rm(dir, { recursive: true }));

test('valkey-server does when there is no redis-server', async () => {
  await writeFile(join(dir, 'valkey-server'), '', { mode: 0o755 });
  expect(findRedisServer(`/no/such/folder:${dir}`)).toBe(join(dir, 'valkey-server'));
});

test('redis-server comes first', async () => {
  await writeFile(join(dir, 'valkey-server'), '', { mode: 0o755 });
  await writeFile(join(dir, 'redis-server'), '', { mode: 0o755 });
  expect(findRedisServer(dir)).toBe(join(dir, 'redis-server'));
});

test('a file that can not be executed is none, and so is an empty PATH', async () => {
  await writeFile(join(dir, 'redis-server'), '', { mode: 0o644 });
  expect(findRedisServer(dir)).toBeUndefined();
  expect(findRedisServer('')).toBeUndefined();
});

let folder: string;

async function addServer(name: string): Promise<string> {
  const bin = join(folder, name, 'bin');
  await mkdir(bin, { recursive: true });
  await writeFile(join(bin, 'postgres'), '#!/bin/sh\n');
  await chmod(join(bin, 'postgres'), 0o755);
  return bin;
}

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'herald-find-postgres-')));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('the folder is that of the server itself, of which the PATH may have only a link', async () => {
  const bin = await addServer('15');
  const links = join(folder, 'links');
  await mkdir(links);
  await symlink(join(bin, 'postgres'), join(links, 'postgres'));
  expect(findPostgres(links, [])).toBe(bin);
});

test('off the PATH it is the newest version', async () => {
  await addServer('9');
  const newest = await addServer('16');
  await addServer('15');
  await mkdir(join(folder, '17', 'bin'), { recursive: true }); // without a server
  expect(findPostgres('', [join(folder, '*/bin')])).toBe(newest);
});

test('there may be none', () => {
  expect(findPostgres('', [join(folder, '*/bin')])).toBeUndefined();
});
