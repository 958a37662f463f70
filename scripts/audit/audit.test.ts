import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const ROOT = join(import.meta.dirname, '../..');
const BULK = '/-/npm/v1/security/advisories/bulk';

const advisoryOf = (name: string, severity: string) => ({
  [name]: [{ id: 1, url: 'https://example.com/1', title: 'A hole', severity, vulnerable_versions: '*' }],
});

/** A registry that knows these advisories, and no version of any package that would be free of them. */
const registryWith = (advisories: object): RequestListener => {
  return ({ url = '' }, res) => {
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify(url === BULK ? advisories : { name: decodeURIComponent(url.slice(1)), versions: {} }));
  };
};

test('a registry without the service: one loud line that nothing was judged, and no word of passing', async () => {
  const { code, stdout, stderr } = await audit((_, res) => res.writeHead(405, { allow: 'GET,HEAD' }).end());
  expect(stderr.trim().split('\n')).toEqual([
    expect.stringMatching(/^!!! NPM AUDIT WAS SKIPPED, NO PACKAGE WAS JUDGED: .*405 Method Not Allowed/),
  ]);
  expect(stdout).toBe('');
  expect(code).toBe(0);
});

test.each([
  ['500', (_, res) => res.writeHead(500).end('{}')],
  ['a connection that is closed', (req) => req.socket.destroy()],
  ['a page of a proxy', (_, res) => res.end('<html>Sign in</html>')],
] satisfies [string, RequestListener][])('%s instead of an answer never counts as passed', async (_, listener) => {
  const { stdout, stderr } = await audit(listener);
  expect(stderr).toMatch(/^(!!! NPM AUDIT WAS SKIPPED, NO PACKAGE WAS JUDGED|npm audit failed): /);
  expect(stdout).toBe('');
});

test.each(['low', 'critical'])('a finding fails, also one of severity %s', async (severity) => {
  const { code, stdout, stderr } = await audit(registryWith(advisoryOf('express', severity)));
  expect(stderr).toContain(`npm audit: express: ${severity}\n`);
  expect(stdout).toBe('');
  expect(code).toBe(1);
});

test('a registry that knows no advisory lets it pass, and says how much was asked about', async () => {
  const { code, stdout, stderr } = await audit(registryWith({}), ROOT);
  expect(stdout).toMatch(/^npm audit: the registry knows no advisory for any of [1-9]\d{2,} packages\n$/);
  expect(stderr).toBe('');
  expect(code).toBe(0);
});

/** What has one dependency: npm takes seconds of processor time for all of this repository's. */
const SMALL = { name: 'small', dependencies: { express: '5.0.0' } };
const packages = { '': SMALL, 'node_modules/express': { version: '5.0.0' } };
let small: string;
beforeAll(async () => {
  small = await mkdtemp(join(tmpdir(), 'herald-audited-'));
  await writeFile(join(small, 'package.json'), JSON.stringify(SMALL));
  await writeFile(join(small, 'package-lock.json'), JSON.stringify({ name: 'small', lockfileVersion: 3, packages }));
});
afterAll(() => rm(small, { recursive: true }));

/** Runs the script as npm does, against a registry on loopback and with an empty cache. */
async function audit(listener: RequestListener, cwd = small) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cache = await mkdtemp(join(tmpdir(), 'herald-audit-'));
  try {
    const { port } = server.address() as AddressInfo;
    const child = spawn(process.execPath, ['--conditions=source', join(ROOT, 'scripts/audit.ts')], {
      cwd,
      env: { PATH: process.env.PATH, npm_config_registry: `http://127.0.0.1:${port}/`, npm_config_cache: cache },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [, stdout, stderr] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
    return { code: child.exitCode, stdout, stderr };
  } finally {
    server.close();
    server.closeAllConnections();
    await rm(cache, { recursive: true });
  }
}
