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

/** What tabs tell each other. `quietMs`: for how long nobody has used the tab that answers. */
type Message =
  | { readonly kind: 'ask' }
  | { readonly kind: 'token'; readonly token: string; readonly quietMs: number }
  | { readonly kind: 'forget'; readonly token: string };

export type TabChannel = Pick<BroadcastChannel, 'postMessage' | 'addEventListener'>;

/** How long a tab waits for the first answer of another, and then for further ones. */
const ANSWER_MS = 250;
const FURTHER_MS = 30;

export type ShareDeps = {
  readonly keeper: Pick<TokenKeeper, 'get' | 'set'>;
  /** Undefined where a frame has none: each tab is then alone. */
  readonly channel: TabChannel | undefined;
  /** For how long nobody has used this tab. */
  readonly quietMs: () => number;
};

/**
 * Tabs of one browser hand the token over to each other, so that a link opens in a second one. Nothing is stored: it is
 * forgotten when all of them are closed, or when somebody signs out in one.
 */
export function createTokenShare({ keeper, channel, quietMs }: ShareDeps) {
  const post = (message: Message) => {
    channel?.postMessage(message);
  };
  const listeners = new Set<(message: Message) => void>();
  channel?.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    const token = keeper.get();
    if (data.kind === 'ask') {
      if (token !== undefined) post({ kind: 'token', token, quietMs: quietMs() });
      return;
    }
    for (const tell of listeners) tell(data);
  });
  return {
    /** The token of the tab that was used last, which is the one with the link; undefined when no other tab has any. */
    async ask(): Promise<string | undefined> {
      if (channel === undefined) return undefined;
      const answers: { readonly token: string; readonly quietMs: number }[] = [];
      await new Promise<void>((done) => {
        setTimeout(done, ANSWER_MS);
        listeners.add((message) => {
          if (message.kind !== 'token') return;
          if (answers.push(message) === 1) setTimeout(done, FURTHER_MS);
        });
        post({ kind: 'ask' });
      });
      return answers.sort((a, b) => a.quietMs - b.quietMs)[0]?.token;
    },
    /** Tells tabs that wait for one that somebody has come in. */
    offer(token: string) {
      post({ kind: 'token', token, quietMs: 0 });
    },
    /** Signs out every tab with this token. */
    forget(token: string) {
      post({ kind: 'forget', token });
    },
    /**
     * Hears of a token that another tab offers, and of this tab's that another has given up (undefined). Returns how to
     * stop listening.
     */
    listen(tell: (token: string | undefined) => void) {
      const hear = (message: Message) => {
        if (message.kind === 'token') tell(message.token);
        else if (message.kind === 'forget' && message.token === keeper.get()) tell(undefined);
      };
      listeners.add(hear);
      return () => {
        listeners.delete(hear);
      };
    },
  };
}
