export type RequestOrigin = {
  readonly method: string;
  /** The header `Sec-Fetch-Site`, which no page can set. */
  readonly fetchSite: string | undefined;
  /** The header `Origin`, which no page can set. */
  readonly origin: string | undefined;
  /** The origin of the operator pages as the browser sees it, such as `https://herald.example.com`. */
  readonly ownOrigin: string;
};

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Returns why a request is refused, or undefined. A browser also adds Basic credentials to requests that another site
 * makes it send. So a request that may change something must show that it comes from the operator pages.
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
