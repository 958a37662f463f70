const RANGES_MS = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const;
type Range = keyof typeof RANGES_MS;
export const AUDIT_RANGES = Object.keys(RANGES_MS) as Range[];

/** What of the audit trail is shown. It lives in the address. */
export type AuditFilter = {
  readonly workspace?: string | undefined;
  readonly by?: string | undefined;
  readonly range?: Range | undefined;
};

/** Who can have done something, as the API knows them. */
export const isDoer = (text: string): boolean => /^(?:(?:key|plk)_[0-9a-f]+|operator|cli)$/.test(text);

export const isWorkspace = (text: string): boolean => /^[\w-]{1,64}$/.test(text);

/** Reads a filter from a query; what means nothing is left out. */
export function readAuditFilter(query: URLSearchParams): AuditFilter {
  const [workspace, by] = [query.get('workspace'), query.get('by')];
  const range = AUDIT_RANGES.find((each) => each === query.get('range'));
  return {
    ...(workspace !== null && isWorkspace(workspace) && { workspace }),
    ...(by !== null && isDoer(by) && { by }),
    ...(range !== undefined && { range }),
  };
}

export function writeAuditFilter(filter: AuditFilter): Record<string, string> {
  const set = Object.entries(filter).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(set);
}

/** The parameters with which the API is asked. */
export function toAuditQuery({ range, ...filter }: AuditFilter, now: number) {
  return {
    ...(filter.workspace !== undefined && { workspaceId: filter.workspace }),
    ...(filter.by !== undefined && { by: filter.by }),
    ...(range !== undefined && { since: new Date(now - RANGES_MS[range]).toISOString() }),
  };
}
