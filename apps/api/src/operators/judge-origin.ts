export type RequestOrigin = {
  readonly method: string;
  /** The header `Sec-Fetch-Site`, which no page can set. */
  readonly fetchSite: string | undefined;
  /** The header `Origin`, which no page can set. */
  readonly origin: string | undefined;
  /** Where the operator pages live, as the browser sees it, such as `https://herald.example.com`. */
  readonly ownOrigin: string;
};

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Why a request that may change something is refused, or undefined. A browser sends Basic credentials along with whatever
 * another site makes it send, so such a request must show that it comes from the operator pages themselves.
 */
export function judgeOrigin({ method, fetchSite, origin, ownOrigin }: RequestOrigin): string | undefined {
  if (SAFE_METHODS.includes(method)) return undefined;
  if (fetchSite !== undefined) {
    return fetchSite === 'same-origin' ? undefined : 'only the operator pages themselves may send this request';
  }
  if (origin === undefined) return `send the header Origin: ${ownOrigin}; browsers do by themselves`;
  if (origin === ownOrigin) return undefined;
  return `the request comes from another origin than ${ownOrigin}; behind a proxy, that must be the address that it is called by`;
}
