/** The result of `npm audit --json`. */
export type AuditVerdict =
  /** There is no result: the registry has no audit service, or can't be reached. */
  | { readonly kind: 'skipped'; readonly reason: string }
  /** npm itself failed, for example because the lock file is missing. */
  | { readonly kind: 'broken'; readonly reason: string }
  | { readonly kind: 'clean'; readonly packages: number }
  | { readonly kind: 'found'; readonly findings: readonly string[] };

/** Findings of any severity count. `text` is the standard output. */
export function judgeAudit(text: string): AuditVerdict {
  const report = readJson(text);
  if (!isObject(report)) return { kind: 'broken', reason: 'no report' };
  if (!isObject(report.vulnerabilities)) return judgeError(report);
  const findings = Object.entries(report.vulnerabilities).map(
    ([name, entry]) => `${name}: ${isObject(entry) && typeof entry.severity === 'string' ? entry.severity : 'unknown'}`,
  );
  return findings.length > 0 ? { kind: 'found', findings } : { kind: 'clean', packages: countPackages(report) };
}

/** What its author has given up, as npm noted it in the lock file: `name: what the author says`. */
export function findDeprecated(lock: string): string[] {
  const file = readJson(lock);
  const packages = isObject(file) && isObject(file.packages) ? file.packages : undefined;
  if (!packages) throw new Error('the lock file has no packages');
  return Object.entries(packages).flatMap(([path, entry]) =>
    isObject(entry) && typeof entry.deprecated === 'string'
      ? [`${path.replace(/^.*node_modules\//, '')}: ${entry.deprecated}`]
      : [],
  );
}

/** Errors of the registry have a `message`; those of npm have only `error`. */
function judgeError({ message, error }: Record<string, unknown>): AuditVerdict {
  if (typeof message === 'string') return { kind: 'skipped', reason: message };
  const summary = isObject(error) && typeof error.summary === 'string' ? error.summary : 'no report';
  return { kind: 'broken', reason: summary };
}

function countPackages({ metadata }: Record<string, unknown>): number {
  const dependencies = isObject(metadata) ? metadata.dependencies : undefined;
  return isObject(dependencies) && typeof dependencies.total === 'number' ? dependencies.total : 0;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
