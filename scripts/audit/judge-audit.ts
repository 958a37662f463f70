/** What `npm audit --json` said, as far as it decides anything. `failures` non-empty means: don't commit on top of this. */
export type AuditVerdict =
  | { readonly kind: 'unanswered'; readonly reason: string }
  | { readonly kind: 'answered'; readonly failures: readonly string[]; readonly tolerated: number };

const FAILING = new Set(['high', 'critical']);

/**
 * A registry that has no audit end point, or can't be reached, gives no verdict. Advisories of high and critical
 * severity fail; lower ones are counted, because many have no fix yet and none of their kind opens the trust boundary.
 */
export function judgeAudit(text: string): AuditVerdict {
  const report = readJson(text);
  if (!isObject(report) || !isObject(report.vulnerabilities)) {
    const message = isObject(report) && typeof report.message === 'string' ? report.message : 'no report';
    return { kind: 'unanswered', reason: message };
  }
  const found = Object.entries(report.vulnerabilities).map(([name, entry]) => ({
    name,
    severity: isObject(entry) && typeof entry.severity === 'string' ? entry.severity : 'unknown',
  }));
  const failing = found.filter(({ severity }) => FAILING.has(severity));
  return {
    kind: 'answered',
    failures: failing.map(({ name, severity }) => `${name}: ${severity}`),
    tolerated: found.length - failing.length,
  };
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
