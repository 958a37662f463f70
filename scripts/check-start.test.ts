import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..');
/** Nothing runs from it, and it isn't made. */
const NOWHERE = join(ROOT, 'node_modules/.cache/herald-nowhere');

let taken: Server[];
beforeAll(async () => {
  taken = [createServer().listen(0, '127.0.0.1'), createServer().listen(0, '127.0.0.1')];
  await Promise.all(taken.map((server) => once(server, 'listening')));
});
afterAll(() => {
  for (const server of taken) server.close();
});

/** What the check says on stderr; undefined when nothing keeps the service from starting. */
async function check(env: Record<string, string>): Promise<string | undefined> {
  const args = ['--conditions=source', join(ROOT, 'scripts/check-start.ts')];
  const given = { PATH: process.env.PATH, HERALD_DIR: NOWHERE, ...env };
  try {
    await promisify(execFile)(process.execPath, args, { env: given });
    return undefined;
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string };
    if (code !== 1) throw error;
    return stderr.trim();
  }
}

test('two taken ports are named together, with what to type', async () => {
  const [api = 0, worker = 0] = taken.map((server) => (server.address() as AddressInfo).port);
  const said = await check({ PORT: String(api), WORKER_PORT: String(worker) });
  expect(said?.split('\n').slice(0, 2)).toEqual([
    `Port ${api} is taken on 127.0.0.1. Set PORT to a free one.`,
    `Port ${worker} is taken on 127.0.0.1. Set WORKER_PORT to a free one.`,
  ]);
});

test('the same port twice is refused', async () => {
  expect(await check({ PORT: '18080', WORKER_PORT: '18080' })).toBe(
    'WORKER_PORT must not be 18080, since PORT is. Set it to another one.',
  );
});

test('an address that this machine lacks is named, with its variable', async () => {
  expect(await check({ PORT: '18081', WORKER_PORT: '18082', WORKER_HOST: '192.0.2.1' })).toMatch(
    /^This machine has no address 192\.0\.2\.1 to listen on\. Set WORKER_HOST to .*$/,
  );
});

test('npm start asks all this before it builds', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: { start: string } };
  expect(scripts.start).toMatch(/ scripts\/check-start\.ts && npm run --silent build && /);
});
