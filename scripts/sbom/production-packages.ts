/** The dependencies in a package-lock.json (lockfileVersion 3). */
export interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export interface LockedPackage {
  /** Name of a workspace, or of a package that is installed under another name. */
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  /** Needed for optional packages and for development. */
  readonly devOptional?: boolean;
  readonly link?: boolean;
  /** The target of a link. */
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** Packages that `roots` (such as `apps/api`) need at run time, with themselves: path → paths of its dependencies. */
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
 * Optional packages count when the lock file has them, those for other platforms too. npm installs an optional peer
 * unless it is only there for development.
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

/** Resolves as Node does: in the node_modules of the folder, then of each folder above it. */
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
