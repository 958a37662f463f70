export type StuckCheckDeps = {
  /** The connections, and when their servers last answered. */
  readonly connections: () => readonly { readonly name: string; readonly lastAnswerAt: number }[];
  /** Asks Redis over a new connection. Rejects when there is no answer. */
  readonly askAnew: () => Promise<void>;
  /** Called with a connection that doesn't recover. */
  readonly onStuck: (name: string, silentForMs: number) => void;
  /** A clock that never jumps, in ms. */
  readonly now: () => number;
};

/** A connection without an answer for so long may be stuck, in ms. */
const SILENT_FOR_MS = 60_000;
/** Redis must have answered new connections for so long, in ms: after an outage all connections need a moment. */
const OTHERS_ANSWER_FOR_MS = 30_000;

/**
 * Returns a check that finds a connection that doesn't recover. An outage of Redis is waited for. When Redis answers
 * new connections but not this one, the cure is a new process.
 */
export function createStuckCheck({ connections, askAnew, onStuck, now }: StuckCheckDeps): () => Promise<void> {
  let othersAnswerSince: number | undefined;
  const findSilent = () => connections().find(({ lastAnswerAt }) => now() - lastAnswerAt > SILENT_FOR_MS);
  const isAnswered = () =>
    askAnew().then(
      () => true,
      () => false,
    );
  return async () => {
    if (!findSilent() || !(await isAnswered())) {
      othersAnswerSince = undefined;
      return;
    }
    othersAnswerSince ??= now();
    const stuck = findSilent();
    if (stuck && now() - othersAnswerSince >= OTHERS_ANSWER_FOR_MS)
      onStuck(stuck.name, Math.round(now() - stuck.lastAnswerAt));
  };
}
