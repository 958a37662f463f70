let stirredAt = Date.now();

/** Somebody has done something with the page, or something has happened that it shows. */
export function stir(): void {
  stirredAt = Date.now();
}

/** For how long neither has been so, in ms. */
export function quietMs(): number {
  return Date.now() - stirredAt;
}

/** Notes what somebody does with the page. */
export function watchReader(): void {
  for (const event of ['pointermove', 'pointerdown', 'keydown', 'scroll', 'focus', 'visibilitychange']) {
    addEventListener(event, stir, { capture: true, passive: true });
  }
}
