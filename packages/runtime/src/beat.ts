/** How often a process at rest wakes for what need not be on time, in ms. */
export const BEAT_MS = 1_000;

/** `from`: as `performance.now()`. */
type Waiting = { readonly from: number; readonly run: () => void };

const waiting = new Set<Waiting>();
let beating: NodeJS.Timeout | undefined;

/**
 * Runs something at the beat that is nearest to so many ms from now, with all else that waits for it: a timer of its own
 * would wake a process at rest. What came late, because the process stood still, is made up for at the next beat.
 * @returns gives it up
 */
export function atBeat(ms: number, run: () => void): () => void {
  const entry: Waiting = { from: performance.now() + ms - BEAT_MS / 2, run };
  waiting.add(entry);
  beating ??= setInterval(beat, BEAT_MS);
  return () => {
    waiting.delete(entry);
    endIfIdle();
  };
}

/** The same again and again, until it is given up. */
export function everyBeat(ms: number, run: () => void): () => void {
  const again = (): void => {
    giveUp = atBeat(ms, again);
    run();
  };
  let giveUp = atBeat(ms, again);
  return () => {
    giveUp();
  };
}

function beat(): void {
  const now = performance.now();
  for (const entry of [...waiting]) {
    // One of them may have given up another.
    if (entry.from <= now && waiting.delete(entry)) entry.run();
  }
  endIfIdle();
}

function endIfIdle(): void {
  if (waiting.size > 0) return;
  clearInterval(beating);
  beating = undefined;
}
