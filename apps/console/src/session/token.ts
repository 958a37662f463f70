/** What a session needs of the browser. */
export type TokenPlace = {
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | undefined;
  readonly location: Pick<Location, 'hash' | 'pathname' | 'search'>;
  readonly history: Pick<History, 'replaceState'>;
};

const KEY = 'herald.token';
const TOKEN = /^hrl[a-z]_[\x21-\x7e]+$/;

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
    /** Takes the token out of the address, if there is one. Returns whether there was. */
    takeFromAddress(): boolean {
      const given = new URLSearchParams(location.hash.slice(1)).get('token');
      if (given === null) return false;
      history.replaceState(null, '', location.pathname + location.search);
      set(given);
      return true;
    },
  };
}

/** Frames without a right to storage throw at every touch of it. */
function readQuietly<T>(touch: () => T): T | undefined {
  try {
    return touch();
  } catch {
    return undefined;
  }
}
