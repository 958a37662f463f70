import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BESIDE_SCENARIOS, readOptions } from './options.ts';
import { findBuildBeside, nodeOptionsOf, programOf } from './start-herald.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'herald-build-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function write(path: string, text = ''): Promise<void> {
  await mkdir(join(folder, path, '..'), { recursive: true });
  await writeFile(join(folder, path), text);
}

async function buildCheckout(): Promise<void> {
  await write('Dockerfile', 'FROM node\nENV NODE_OPTIONS="--max-semi-space-size=4 --v8-pool-size=1"\n');
  for (const program of ['api', 'worker', 'cli']) await write(`apps/${program}/dist/main.js`);
  await write('packages/core/package.json');
  await mkdir(join(folder, 'node_modules/@herald'), { recursive: true });
  await symlink('../../packages/core', join(folder, 'node_modules/@herald/core'));
}

test("a built checkout's processes are its own, with what its own image gives to Node", async () => {
  await buildCheckout();
  const build = findBuildBeside(folder);
  expect(programOf(build, 'worker')).toBe(join(folder, 'apps/worker/dist/main.js'));
  expect(nodeOptionsOf(build)).toBe('--max-semi-space-size=4 --v8-pool-size=1');
});

test('beside another build run the scenarios that compare', async () => {
  await buildCheckout();
  const { scenarios, builds } = readOptions(['--beside', folder]);
  expect(scenarios).toEqual(BESIDE_SCENARIOS);
  expect(builds.map(({ name }) => name)).toEqual(['this build', 'beside']);
});

test.each([
  { without: '', message: /there is no such directory/ },
  { without: 'Dockerfile', message: /no checkout of Herald/ },
  { without: 'node_modules', message: /not installed\. Type there: npm ci/ },
  { without: 'apps/worker/dist', message: /worker\/dist\/main\.js is missing\. Type there: npm run build/ },
])('without "$without" it is refused with what to do', async ({ without, message }) => {
  await buildCheckout();
  await rm(join(folder, without), { recursive: true });
  try {
    expect(() => findBuildBeside(folder)).toThrow(message);
  } finally {
    await mkdir(folder, { recursive: true });
  }
});

test("a checkout that borrows another one's packages is refused, since it would run that one's code", async () => {
  await buildCheckout();
  await rm(join(folder, 'node_modules/@herald/core'));
  await symlink(tmpdir(), join(folder, 'node_modules/@herald/core'));
  expect(() => findBuildBeside(folder)).toThrow(/packages are those of another checkout/);
});
