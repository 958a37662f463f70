/** A problem of a set-up. */
export type Finding = {
  /** `error`: Herald can't work like this. `warning`: it works, but loses something or gets worse. */
  readonly level: 'error' | 'warning';
  /** Stable, in snake_case. */
  readonly code: string;
  /** The problem, and which setting solves it. */
  readonly sentence: string;
};

export const error = (code: string, sentence: string): Finding => ({ level: 'error', code, sentence });
export const warning = (code: string, sentence: string): Finding => ({ level: 'warning', code, sentence });
