/** The first thing that a page reads. Pages that read something else first are not here. */
const FIRST_READS: readonly (readonly [page: RegExp, path: string])[] = [
  [/^\/console(?:\/receivers)?\/?$/, '/api/public/webhooks'],
  [/^\/console\/receivers\/(wh_[a-z0-9]+)$/, '/api/public/webhooks/'],
  [/^\/console\/deliveries\/(dlv_[a-z0-9]+)$/, '/api/public/deliveries/'],
];

/** What the page at this path reads first; undefined when that is not known. */
export function findFirstRead(pathname: string): string | undefined {
  for (const [page, path] of FIRST_READS) {
    const match = page.exec(pathname);
    if (match) return path + (match[1] ?? '');
  }
  return undefined;
}

let early: { readonly path: string; readonly answer: Promise<Response> } | undefined;

/** Asks for it while the program of the page is still on its way. On a slow line that saves a round trip. */
export function askEarly(pathname: string, token: string): void {
  const path = findFirstRead(pathname);
  if (path === undefined) return;
  const answer = fetch(new URL(path, location.origin), { headers: { authorization: `Bearer ${token}` } });
  // Whoever takes it hears of a failure; if nobody does, nobody minds.
  answer.catch(() => undefined);
  early = { path, answer };
}

/** The answer that was asked for early, once. */
export function takeEarly({
  method,
  path,
}: {
  readonly method: string;
  readonly path: string;
}): Promise<Response> | undefined {
  if (early?.path !== path || method !== 'GET') return undefined;
  const { answer } = early;
  early = undefined;
  return answer;
}
