import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A package.json, or a lock file with those of all packages. */
type Manifest = {
  version?: string;
  packages?: Record<string, Manifest>;
  repository?: { url: string };
  homepage?: string;
  bugs?: string;
};

/** Where text tells the version: the image's label, both versions of the chart, and the kit for Python. */
const TEXTS = [
  { file: 'Dockerfile', version: /(org\.opencontainers\.image\.version=)\S+/ },
  { file: 'ops/helm/herald/Chart.yaml', version: /(^(?:version|appVersion): )\S+/gm },
  { file: 'packages/receiver-python/pyproject.toml', version: /(^version = ")[^"]+/m },
];

/**
 * Gives every package below the root, the lock file, the image, the chart and the kit for Python this version, and what
 * others install the address of the root's repository. Returns the files that it wrote.
 */
export function setVersion(root: string, version: string): string[] {
  const manifests = globSync(['packages/*/package.json', 'apps/*/package.json'], { cwd: root }).sort();
  const { repository: { url } = { url: '' } } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  ) as Manifest;
  const page = url.replace(/^git\+/, '').replace(/\.git$/, '');
  for (const file of manifests) {
    rewrite(join(root, file), (manifest) => {
      manifest.version = version;
      if (manifest.repository === undefined) return;
      manifest.repository.url = url;
      manifest.homepage = `${page}/tree/main/${dirname(file)}#readme`;
      manifest.bugs = `${page}/issues`;
    });
  }
  rewrite(join(root, 'package-lock.json'), ({ packages = {} }) => {
    for (const file of manifests) Object.assign(packages[file.replace('/package.json', '')] ?? {}, { version });
  });
  for (const text of TEXTS) {
    const path = join(root, text.file);
    writeFileSync(path, readFileSync(path, 'utf8').replace(text.version, `$1${version}`));
  }
  return [...manifests, 'package-lock.json', ...TEXTS.map(({ file }) => file)];
}

function rewrite(file: string, change: (document: Manifest) => void): void {
  const document = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
  change(document);
  writeFileSync(file, `${JSON.stringify(document, undefined, 2)}\n`);
}
