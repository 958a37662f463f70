/** How often a process at rest wakes for what need not be on time, in ms. */
export const BEAT_MS = 500;

type Waiting = { readonly at: number; readonly run: () => void };

const waiting = new Set<Waiting>();
let beats = 0;
let beating: NodeJS.Timeout | undefined;

/**
 * Runs something in about so many ms, with all else of this process that waits for the same beat: a timer of its own
 * would wake a process at rest, and its command would go to Redis alone.
 * @returns gives it up
 */
export function atBeat(ms: number, run: () => void): () => void {
  const entry: Waiting = { at: beats + Math.max(1, Math.round(ms / BEAT_MS)), run };
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
  beats++;
  for (const entry of [...waiting]) {
    // One of them may have given up another.
    if (entry.at <= beats && waiting.delete(entry)) entry.run();
  }
  endIfIdle();
}

function endIfIdle(): void {
  if (waiting.size > 0) return;
  clearInterval(beating);
  beating = undefined;
}
