/** package-lock.json (lockfileVersion 3), as far as it says what depends on what. */
export interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export interface LockedPackage {
  /** Of a folder of ours, or of what is installed under another name. */
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  /** Needed by what is optional, and for development. */
  readonly devOptional?: boolean;
  readonly link?: boolean;
  /** The folder that a link leads to. */
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** What `roots` (folders of ours, such as `apps/api`) need when they run, themselves included: path → paths that it needs. */
export function findProductionPackages(lock: Lock, roots: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  const waiting = [...roots];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    const needed = findNeeded(lock, path);
    found.set(path, needed);
    waiting.push(...needed);
  }
  return found;
}

/**
 * What is optional counts where the lock file has it, packages for other platforms too. npm installs a peer that is optional
 * unless it is there for development alone.
 */
function findNeeded(lock: Lock, path: string): readonly string[] {
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = entryAt(lock, path);
  const names = Object.keys({ ...peerDependencies, ...dependencies, ...optionalDependencies });
  return names.flatMap((name) => {
    const place = findPlace(lock, path, name);
    const isOptionalPeer = dependencies?.[name] === undefined && peerDependenciesMeta?.[name]?.optional === true;
    if (place !== undefined) return isOptionalPeer && entryAt(lock, place).dev === true ? [] : [place];
    if (isOptionalPeer || optionalDependencies?.[name] !== undefined) return [];
    throw new Error(`package-lock.json lacks ${name}, which ${path} needs`);
  });
}

/** As Node looks for it: in the node_modules of the folder itself, then of each folder above it. */
function findPlace(lock: Lock, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    const entry = lock.packages[place];
    if (entry) return entry.link === true ? entry.resolved : place;
    if (folder === '') return undefined;
  }
}

export function entryAt(lock: Lock, path: string): LockedPackage {
  const entry = lock.packages[path];
  if (!entry) throw new Error(`package-lock.json lacks ${path}`);
  return entry;
}
