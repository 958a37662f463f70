import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package.json, or a lock file with those of all packages. */
type Manifest = { version?: string; packages?: Record<string, Manifest> };

const IMAGE_LABEL = /(org\.opencontainers\.image\.version=)\S+/;

/** Gives every package below the root, the lock file and the image this version. Returns the files that it wrote. */
export function setVersion(root: string, version: string): string[] {
  const manifests = globSync(['packages/*/package.json', 'apps/*/package.json'], { cwd: root }).sort();
  for (const file of manifests) rewrite(join(root, file), (manifest) => (manifest.version = version));
  rewrite(join(root, 'package-lock.json'), ({ packages = {} }) => {
    for (const file of manifests) Object.assign(packages[file.replace('/package.json', '')] ?? {}, { version });
  });
  const dockerfile = join(root, 'Dockerfile');
  writeFileSync(dockerfile, readFileSync(dockerfile, 'utf8').replace(IMAGE_LABEL, `$1${version}`));
  return [...manifests, 'package-lock.json', 'Dockerfile'];
}

function rewrite(file: string, change: (document: Manifest) => void): void {
  const document = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
  change(document);
  writeFileSync(file, `${JSON.stringify(document, undefined, 2)}\n`);
}
