import { entryAt, findProductionPackages, type Lock, type LockedPackage } from './production-packages.ts';

/** The parts of a CycloneDX 1.6 document that are used. */
export interface Sbom {
  readonly bomFormat: 'CycloneDX';
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  readonly [key: string]: unknown;
}

export interface Component {
  readonly type: 'application' | 'library';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly [key: string]: unknown;
}

const APPS = ['apps/api', 'apps/cli', 'apps/console', 'apps/worker'];

/**
 * Lists the packages that the image installs, and optional ones of other platforms. Leaves out those for builds and
 * tests.
 */
export function createSbom(lock: Lock, { serialNumber, timestamp }: { serialNumber: string; timestamp: string }): Sbom {
  const packages = findProductionPackages(lock, APPS);
  const refAt = (path: string) => refOf(path, entryAt(lock, path));
  const components = new Map<string, Component>();
  const dependencies = new Map<string, Set<string>>([[refAt(''), new Set(APPS.map(refAt))]]);
  // One version of a package can be in several places, with different dependencies in each.
  for (const [path, needed] of [...packages].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const ref = refAt(path);
    const component = describe(path, entryAt(lock, path));
    if (components.get(ref)?.scope !== 'required') components.set(ref, component);
    dependencies.set(ref, new Set([...(dependencies.get(ref) ?? []), ...needed.map(refAt)]));
  }
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber,
    version: 1,
    metadata: { timestamp, lifecycles: [{ phase: 'pre-build' }], component: describe('', entryAt(lock, '')) },
    components: [...components.values()],
    dependencies: [...dependencies].map(([ref, needed]) => ({ ref, dependsOn: [...needed].sort() })),
  };
}

/** Herald's own packages are in no registry. They get no purl: a scanner would find a foreign package under it. */
function describe(path: string, entry: LockedPackage): Component {
  const ref = refOf(path, entry);
  const isOurs = !path.includes('node_modules/');
  return {
    type: path === '' || APPS.includes(path) ? 'application' : 'library',
    'bom-ref': ref,
    ...splitName(nameOf(path, entry)),
    version: versionOf(path, entry),
    scope: entry.optional === true || entry.devOptional === true ? 'optional' : 'required',
    ...(entry.integrity !== undefined && { hashes: [hashOf(entry.integrity)] }),
    ...(entry.license !== undefined && { licenses: [licenseOf(entry.license)] }),
    ...(!isOurs && { purl: ref }),
  };
}

function refOf(path: string, entry: LockedPackage): string {
  return `pkg:npm/${nameOf(path, entry).replace('@', '%40')}@${versionOf(path, entry)}`;
}

function nameOf(path: string, { name }: LockedPackage): string {
  return name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function versionOf(path: string, { version }: LockedPackage): string {
  if (version === undefined) throw new Error(`package-lock.json has no version of ${path}`);
  return version;
}

function splitName(name: string): { readonly group?: string; readonly name: string } {
  const slash = name.indexOf('/');
  return slash < 0 ? { name } : { group: name.slice(0, slash), name: name.slice(slash + 1) };
}

/** npm's `sha512-<base64>`. */
function hashOf(integrity: string): { readonly alg: string; readonly content: string } {
  const [algorithm = '', digest = ''] = integrity.split('-');
  return { alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') };
}

function licenseOf(license: string): object {
  return /[ (]/.test(license) ? { expression: license } : { license: { id: license } };
}
