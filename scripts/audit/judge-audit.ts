/** What `npm audit --json` said, as far as it decides anything. */
export type AuditVerdict =
  /** Nothing was judged: the registry has no such service, or can't be reached. */
  | { readonly kind: 'skipped'; readonly reason: string }
  /** npm itself couldn't ask, for example because the lock file is gone. */
  | { readonly kind: 'broken'; readonly reason: string }
  | { readonly kind: 'clean'; readonly packages: number }
  | { readonly kind: 'found'; readonly findings: readonly string[] };

/** Any finding counts, whatever its severity. `text` is the standard output. */
export function judgeAudit(text: string): AuditVerdict {
  const report = readJson(text);
  if (!isObject(report)) return { kind: 'broken', reason: 'no report' };
  if (!isObject(report.vulnerabilities)) return judgeError(report);
  const findings = Object.entries(report.vulnerabilities).map(
    ([name, entry]) => `${name}: ${isObject(entry) && typeof entry.severity === 'string' ? entry.severity : 'unknown'}`,
  );
  return findings.length > 0 ? { kind: 'found', findings } : { kind: 'clean', packages: countPackages(report) };
}

/** The registry's errors have a `message` of their own; those of npm are in `error` alone. */
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
