import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nextVersion } from './release/next-version.ts';

const ROOT = join(import.meta.dirname, '..');
const RELEASE_HEADING = /^## \[(\d+)\.(\d+)\.(\d+)\] - (\d{4}-\d\d-\d\d)$/;
const CHART = 'ops/helm/herald/Chart.yaml';
const PYTHON_KIT = 'packages/receiver-python/pyproject.toml';
const KINDS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];

const read = (root: string, file: string) => readFileSync(join(root, file), 'utf8');
const versionOf = (root: string, file: string) => (JSON.parse(read(root, file)) as { version: string }).version;
const manifestsOf = (root: string) =>
  globSync(['package.json', 'packages/*/package.json', 'apps/*/package.json'], { cwd: root });

/** Everything that tells the version, and what it tells. */
function readVersions(root: string): Set<string | undefined> {
  const { packages } = JSON.parse(read(root, 'package-lock.json')) as { packages: Record<string, { version: string }> };
  const ours = Object.entries(packages).filter(([path]) => /^$|^(packages|apps)\/[^/]+$/.test(path));
  return new Set([
    ...manifestsOf(root).map((file) => versionOf(root, file)),
    ...ours.map(([, { version }]) => version),
    /image\.version=(\S+)/.exec(read(root, 'Dockerfile'))?.[1],
    /^version: (\S+)/m.exec(read(root, CHART))?.[1],
    /^appVersion: (\S+)/m.exec(read(root, CHART))?.[1],
    /^version = "(.+)"/m.exec(read(root, PYTHON_KIT))?.[1],
  ]);
}

/** Where the packages that others install say that the repository is, its page and its issues. */
function readAddresses(root: string): Set<string | undefined> {
  type Manifest = { homepage?: string; bugs: string; repository: { url: string } };
  const manifests = manifestsOf(root).map((file) => JSON.parse(read(root, file)) as Manifest);
  const installed = manifests.filter(({ homepage }) => homepage !== undefined);
  expect(installed).toHaveLength(2);
  return new Set(
    installed.flatMap(({ repository, homepage, bugs }) => [
      repository.url,
      homepage?.replace(/\/tree\/main\/packages\/\w+#readme$/, ''),
      bugs.replace(/\/issues$/, ''),
    ]),
  );
}

/** The newest release in the changelog, as a number that grows with it. */
function newestRelease(root: string): string | undefined {
  return /^## \[(\d\S*)\]/m.exec(read(root, 'CHANGELOG.md'))?.[1];
}

test('one version is told everywhere: packages, lock file, image, chart and Python’s kit; that of the newest release, or of the next', () => {
  const version = versionOf(ROOT, 'package.json');
  expect([...readVersions(ROOT)]).toEqual([version]);
  const released = newestRelease(ROOT) ?? '';
  expect([released, nextVersion(released)]).toContain(version);
});

test('the address of the repository is that of the root', () => {
  const { repository } = JSON.parse(read(ROOT, 'package.json')) as { repository: { url: string } };
  const page = repository.url.replace(/^git\+(.*)\.git$/, '$1');
  expect([...readAddresses(ROOT)]).toEqual([repository.url, page]);
});

test.each([
  ['0.3.0', '0.4.0-dev'],
  ['0.3.7', '0.4.0-dev'],
  ['1.9.0', '1.10.0-dev'],
])('after %s comes %s', (released, next) => {
  expect(nextVersion(released)).toBe(next);
});

test('no source tells the version by itself', () => {
  const literal = `'${versionOf(ROOT, 'package.json')}'`;
  const sources = globSync(['packages/*/src/**/*.ts', 'apps/*/src/**/*.ts'], { cwd: ROOT });
  expect(sources.length).toBeGreaterThan(300);
  expect(sources.filter((file) => read(ROOT, file).includes(literal))).toEqual([]);
});

test('the changelog is one as Keep a Changelog describes it', () => {
  const [title, introduction, ...headings] = read(ROOT, 'CHANGELOG.md')
    .split(/^(?=## )/m)
    .flatMap((part, index) => (index === 0 ? part.trim().split(/\n\n/) : [part]));
  expect(title).toBe('# Changelog');
  expect(introduction).toMatch(/Keep a Changelog.*semver\.org/s);
  expect(headings[0]).toMatch(/^## \[Unreleased\]\n/);
  const releases = headings.slice(1).map((section) => RELEASE_HEADING.exec(section.split('\n')[0] ?? ''));
  expect(releases.every((release) => release !== null)).toBe(true);
  const order = releases.map((release) =>
    release
      ?.slice(1, 4)
      .map((part) => part.padStart(4, '0'))
      .join('.'),
  );
  expect(order).toEqual([...new Set(order)].sort().reverse());
  const dates = releases.map((release) => release?.[4]);
  expect(dates).toEqual([...dates].sort().reverse());
  for (const section of headings) {
    const kinds = [...section.matchAll(/^### (.+)$/gm)].map(([, kind = '']) => kind);
    expect(kinds.filter((kind) => !KINDS.includes(kind))).toEqual([]);
    expect(kinds).toEqual([...new Set(kinds)]);
  }
});

test('npm run release sets the version everywhere, dates the changelog, commits and tags, keeps the build and begins the next', () => {
  const root = mkdtempSync(join(tmpdir(), 'herald-release-'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  try {
    const copied = [
      ...manifestsOf(ROOT),
      'package-lock.json',
      'Dockerfile',
      CHART,
      PYTHON_KIT,
      'CHANGELOG.md',
      '.npmrc',
      'scripts',
    ];
    for (const file of copied) cpSync(join(ROOT, file), join(root, file), { recursive: true });
    // What a build would make: the commit from which it was made.
    const manifest = JSON.parse(read(root, 'package.json')) as {
      scripts: Record<string, string>;
      repository: { url: string };
    };
    manifest.repository.url = 'git+https://git.example.org/a/b.git';
    manifest.scripts.build =
      'for app in api worker cli console; do mkdir -p apps/$app/dist; git describe --tags --dirty=-changed > apps/$app/dist/main.js; done';
    writeFileSync(join(root, 'package.json'), JSON.stringify(manifest, undefined, 2));
    mkdirSync(join(root, 'tests/releases'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    writeFileSync(join(root, '.gitignore'), 'node_modules\ndist\n');
    const changelog = read(root, 'CHANGELOG.md').replace(
      '## [Unreleased]\n',
      '## [Unreleased]\n\n### Added\n\n- More.\n',
    );
    writeFileSync(join(root, 'CHANGELOG.md'), changelog);
    git('init', '--quiet');
    for (const [name, value] of [
      ['user.name', 'Test'],
      ['user.email', 'test@example.com'],
      ['commit.gpgsign', 'false'],
      ['tag.gpgsign', 'false'],
    ] as const)
      git('config', name, value);
    git('add', '.');
    git('commit', '--quiet', '--message', 'Begin');

    execFileSync('npm', ['run', '--silent', 'release', '--', '9.8.7'], { cwd: root, encoding: 'utf8' });

    expect([...readVersions(root)]).toEqual(['9.9.0-dev']);
    expect([...readAddresses(root)]).toEqual(['git+https://git.example.org/a/b.git', 'https://git.example.org/a/b']);
    expect(git('log', '-2', '--format=%s').split('\n')).toEqual([
      'Keep the build of 9.8.7, and begin 9.9.0-dev',
      'Release 9.8.7',
    ]);
    expect(git('tag', '--points-at', 'HEAD~1')).toBe('v9.8.7');
    expect(git('status', '--porcelain')).toBe('');
    const kept = execFileSync('tar', ['-xOzf', 'tests/releases/9.8.7.tgz', 'apps/api/dist/main.js'], { cwd: root });
    expect(kept.toString().trim()).toBe('v9.8.7');
    git('checkout', '--quiet', 'v9.8.7');
    expect([...readVersions(root)]).toEqual(['9.8.7']);
    expect(newestRelease(root)).toBe('9.8.7');
    expect(read(root, 'CHANGELOG.md')).toMatch(
      /^## \[Unreleased\]\n\n## \[9\.8\.7\] - \d{4}-\d\d-\d\d\n\n### Added\n\n- More\./m,
    );
  } finally {
    rmSync(root, { recursive: true });
  }
}, 60_000);
