import type { TokenKeeper } from './token.ts';

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
