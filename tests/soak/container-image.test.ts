import { VERSION } from '@herald/runtime/version';
import { execFile } from 'node:child_process';
import { chmod, lstat, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Sbom } from '../../scripts/sbom/create-sbom.ts';
import { buildImage, type BuiltImage } from '../support/build-image.ts';
import { expectDelivery } from '../support/expect-delivery.ts';
import { startHerald } from '../support/start-herald.ts';

const NOBODY = 65_534;
const BUILD_LIMIT_MS = 300_000;

let image: BuiltImage;
beforeAll(async () => {
  image = await buildImage();
}, BUILD_LIMIT_MS);
afterAll(() => image[Symbol.asyncDispose]());

test('the image starts the api unless told otherwise, as a user without rights', () => {
  expect(image.command).toEqual(['node', 'apps/api/dist/main.js']);
  expect(image.user).toBe('1000:1000');
});

test('the image says what it is and where it listens', () => {
  expect(image.ports).toEqual(['8080', '8081', '8082']);
  expect(image.labels).toEqual({
    'org.opencontainers.image.title': 'herald',
    'org.opencontainers.image.description': expect.stringMatching(/\w/) as string,
    'org.opencontainers.image.version': VERSION,
    'org.opencontainers.image.licenses': 'MIT',
    'org.opencontainers.image.base.name': `docker.io/library/${image.base}`,
  });
});

test('herald is a command of the image', async () => {
  const [path = ''] = (image.environment.PATH ?? '').split(':').reverse();
  const command = join(image.folder, path.replace('/herald/', ''), 'herald');
  const { stdout } = await promisify(execFile)(process.execPath, [command, '--version']);
  // An image is built without the history.
  expect(stdout.trim()).toBe(VERSION);
});

test('Node takes the settings of the image: a young generation of twice 4 MiB, however much there is', async () => {
  const script = `
    const objects = Array.from({ length: 1e6 }, (_, index) => ({ index }));
    const [{ space_size: size }] = v8.getHeapSpaceStatistics().filter((space) => space.space_name === 'new_space');
    console.log(objects.length, size / 2 ** 20);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { env: image.environment });
  expect(stdout).toBe('1000000 8\n');
});

test('no package runs anything of its own while the image is built', () => {
  expect(image.scripts).toEqual(['build herald']);
});

test('the image carries no sources, no tests and nothing that only builds', async () => {
  const files = await listFiles(image.folder);
  const ours = files.filter((path) => !path.includes('node_modules/'));
  expect(ours.filter((path) => /\.test\.|\/src\//.test(path))).toEqual([]);
  expect(
    files.filter((path) => /node_modules\/(@peculiar|jest|oxlint|oxfmt|node|node-linux-\w+|@swc)\//.test(path)),
  ).toEqual([]);
  expect(ours.filter((path) => path.endsWith('dist/main.js')).sort()).toEqual([
    'apps/api/dist/main.js',
    'apps/cli/dist/main.js',
    'apps/worker/dist/main.js',
  ]);
});

test('npm run sbom names every package from a registry that the image holds', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=source', 'scripts/sbom.ts']);
  const { components } = JSON.parse(stdout) as Pick<Sbom, 'components'>;
  const named = components.map(({ group, name, version }) => `${[group, name].filter(Boolean).join('/')}@${version}`);
  const installed = (await readInstalled(image.folder)).filter((each) => !each.startsWith('@herald/'));
  expect(installed.map((each) => each.replace(/@[^@]+$/, '')).sort()).toEqual(['@bull-board/ui', 'swagger-ui-dist']);
  expect(installed.filter((each) => !named.includes(each))).toEqual([]);
});

test('the image holds at most 40 MB beside Node, and no map, compiler or type', async () => {
  const files = await listFiles(image.folder);
  const sizes = await Promise.all(files.map(async (path) => (await lstat(join(image.folder, path))).size));
  const megabytes = sizes.reduce((sum, size) => sum + size, 0) / 1e6;
  process.stderr.write(`image: ${megabytes.toFixed(1)} MB in ${files.length} files\n`);
  expect(megabytes).toBeLessThan(40);
  expect(files.filter((path) => /\.map$|\/typescript\/|\.d\.ts$/.test(path))).toEqual([]);
});

test('what the image holds delivers as an unprivileged user from a folder that nobody can write to', async () => {
  const before = await listFiles(image.folder);
  await openForReading(join(image.folder, '..'));
  const installation = { folder: image.folder, ...(process.getuid?.() === 0 && { uid: NOBODY }) };
  {
    await using herald = await startHerald({ installation });
    await expectDelivery(herald);
  }
  expect(await listFiles(image.folder)).toEqual(before);
});

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true });
  return entries.sort();
}

/** Such as `express@5.3.0`, for each folder of a package. */
async function readInstalled(folder: string): Promise<string[]> {
  const files = await listFiles(folder);
  const manifests = files.filter((path) => /(^|\/)node_modules\/(@[^/]+\/)?[^/@]+\/package\.json$/.test(path));
  return Promise.all(
    manifests.map(async (path) => {
      const { name, version } = JSON.parse(await readFile(join(folder, path), 'utf8')) as Record<string, string>;
      return `${name}@${version}`;
    }),
  );
}

/** Readable for everybody and writable for nobody, as a read-only file system is; the temporary folder above it as well. */
async function openForReading(folder: string): Promise<void> {
  await chmod(join(folder, '..'), 0o755);
  for (const path of ['.', ...(await readdir(folder, { recursive: true }))]) {
    const { mode } = await stat(join(folder, path));
    await chmod(join(folder, path), (mode | 0o444 | ((mode & 0o100) !== 0 ? 0o111 : 0)) & ~0o222);
  }
}
