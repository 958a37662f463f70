/** What a session needs of the browser. */
export type TokenPlace = {
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | undefined;
  readonly location: Pick<Location, 'hash' | 'pathname' | 'search'>;
  readonly history: Pick<History, 'replaceState'>;
};

const KEY = 'herald.token';
/** The page that somebody wanted who had to sign in first. */
const WANTED = 'herald.wanted';
const TOKEN = /^hrl[a-z]_[\x21-\x7e]+$/;
/** Where a link of the platform leads, unless it says more. */
const FIRST_PAGE = /^\/console(?:\/receivers)?\/?$/;

/** Whether the text may be an API key or the token of a link. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/**
 * The bearer token of this tab. That of a link comes in the fragment, which no server sees; it leaves the address at
 * once. Where a frame may not store anything, the token lives as long as the page.
 */
export function createTokenKeeper({ storage, location, history }: TokenPlace) {
  let token = readQuietly(() => storage?.getItem(KEY)) ?? undefined;
  const set = (value: string | undefined) => {
    token = value;
    readQuietly(() => {
      if (value === undefined) storage?.removeItem(KEY);
      else storage?.setItem(KEY, value);
    });
  };
  return {
    get: () => token,
    set,
    /** Remembers this page for a link that opens in this tab. */
    want() {
      if (FIRST_PAGE.test(location.pathname)) return;
      readQuietly(() => storage?.setItem(WANTED, location.pathname + location.search));
    },
    /** Takes the token out of the address, if there is one, and goes to the page that was wanted. Returns whether there was. */
    takeFromAddress(): boolean {
      const given = new URLSearchParams(location.hash.slice(1)).get('token');
      if (given === null) return false;
      const wanted = readQuietly(() => storage?.getItem(WANTED)) ?? undefined;
      readQuietly(() => storage?.removeItem(WANTED));
      const here = location.pathname + location.search;
      history.replaceState(null, '', wanted !== undefined && FIRST_PAGE.test(location.pathname) ? wanted : here);
      set(given);
      return true;
    },
  };
}
export type TokenKeeper = ReturnType<typeof createTokenKeeper>;

/** Frames without a right to storage throw at every touch of it. */
function readQuietly<T>(touch: () => T): T | undefined {
  try {
    return touch();
  } catch {
    return undefined;
  }
}
