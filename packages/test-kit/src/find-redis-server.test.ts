import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedisServer } from './find-redis-server.ts';

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
