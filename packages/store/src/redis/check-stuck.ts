/** A connection, and when its server last answered. */
export type Answered = { readonly name: string; readonly lastAnswerAt: number };

export type StuckCheckDeps = {
  readonly connections: () => readonly Answered[];
  /** Asks Redis over a connection that is made for it. Rejects when there is no answer. */
  readonly askAnew: () => Promise<void>;
  /** Told of a connection that is beyond repair. */
  readonly onStuck: (name: string, silentForMs: number) => void;
  /** A clock that never jumps, in ms. */
  readonly now: () => number;
};

/** A connection without an answer for so long is looked at, in ms. */
const SILENT_FOR_MS = 60_000;
/** Redis must have answered new connections for so long: when it comes back, all others need a moment to be back as well. In ms. */
const OTHERS_ANSWER_FOR_MS = 30_000;

/**
 * Looks, each time that it is called, for a connection that doesn't recover. Redis that is away is waited for. One that answers
 * others, and not us, is not: then a new process is the cure.
 */
export function createStuckCheck({ connections, askAnew, onStuck, now }: StuckCheckDeps): () => Promise<void> {
  let othersAnswerSince: number | undefined;
  const findStuck = () => connections().find(({ lastAnswerAt }) => now() - lastAnswerAt > SILENT_FOR_MS);
  const othersAreAnswered = () =>
    askAnew().then(
      () => true,
      () => false,
    );
  return async () => {
    if (!findStuck() || !(await othersAreAnswered())) {
      othersAnswerSince = undefined;
      return;
    }
    othersAnswerSince ??= now();
    const stuck = findStuck();
    if (stuck && now() - othersAnswerSince >= OTHERS_ANSWER_FOR_MS)
      onStuck(stuck.name, Math.round(now() - stuck.lastAnswerAt));
  };
}
