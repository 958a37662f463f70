import { createTokenKeeper, createTokenShare, type TabChannel } from './token.ts';

/** A frame that may not store anything throws at each of these. */
function findQuietly<T>(find: () => T): T | undefined {
  try {
    return find();
  } catch {
    return undefined;
  }
}

/** The session of this tab. */
export const session = createTokenKeeper({ storage: findQuietly(() => window.sessionStorage), location, history });

let usedAt = Date.now();
for (const event of ['pointerdown', 'keydown']) {
  addEventListener(
    event,
    () => {
      usedAt = Date.now();
    },
    { capture: true, passive: true },
  );
}

/** The other tabs of this browser. */
export const tabs = createTokenShare({
  keeper: session,
  channel: findQuietly((): TabChannel => new BroadcastChannel('herald.token')),
  quietMs: () => Date.now() - usedAt,
});
