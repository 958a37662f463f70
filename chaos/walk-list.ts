import type { Insist } from './patient-client.ts';

export type ListedEntry = { readonly id: string; readonly createdAt: string };

/** What the pages of a list showed, one after the other. */
export type Walk = {
  readonly entries: readonly ListedEntry[];
  /** False: it wasn't read to its end, or a page said that the history was away. */
  readonly isWhole: boolean;
  readonly pages: number;
  /** Pages that said so. */
  readonly partial: number;
};

type Page = {
  readonly deliveries: readonly ListedEntry[];
  readonly nextCursor: string | null;
  readonly historyUnavailable?: true;
};

export type WalkOptions = {
  readonly insist: Insist;
  readonly key: string;
  /** `/api/public/deliveries`, or the deliveries of a receiver. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Ends it between two pages. */
  readonly signal?: AbortSignal;
};

/** Reads a list from its first page to its last. Undefined: there is none. */
export async function walkList({ insist, key, path, query, signal }: WalkOptions): Promise<Walk | undefined> {
  const entries: ListedEntry[] = [];
  let [pages, partial] = [0, 0];
  for (let cursor: string | null | undefined; cursor !== null && signal?.aborted !== true;) {
    const asked = new URLSearchParams({ ...query, ...(cursor !== undefined && { cursor }) });
    const { status, body, text } = await insist('GET', `${path}?${asked.toString()}`, { key });
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(`a page of ${path} was answered ${text}`);
    const page = body as Page;
    entries.push(...page.deliveries);
    pages++;
    if (page.historyUnavailable) partial++;
    cursor = page.nextCursor;
    if (cursor === null) return { entries, pages, partial, isWhole: partial === 0 };
  }
  return { entries, pages, partial, isWhole: false };
}
