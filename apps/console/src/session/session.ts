import { createTokenKeeper } from './token.ts';

/** Reading the property throws in a frame that may not store anything. */
function findStorage(): Storage | undefined {
  try {
    return window.sessionStorage;
  } catch {
    return undefined;
  }
}

/** The session of this tab. */
export const session = createTokenKeeper({ storage: findStorage(), location, history });
