import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package.json, or a lock file with those of all packages. */
type Manifest = { version?: string; packages?: Record<string, Manifest> };

/** Where text tells the version: the image's label, and both versions of the chart. */
const TEXTS = [
  { file: 'Dockerfile', version: /(org\.opencontainers\.image\.version=)\S+/ },
  { file: 'ops/helm/herald/Chart.yaml', version: /(^(?:version|appVersion): )\S+/gm },
];

/**
 * Gives every package below the root, the lock file, the image and the chart this version. Returns the files that it
 * wrote.
 */
export function setVersion(root: string, version: string): string[] {
  const manifests = globSync(['packages/*/package.json', 'apps/*/package.json'], { cwd: root }).sort();
  for (const file of manifests) rewrite(join(root, file), (manifest) => (manifest.version = version));
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
