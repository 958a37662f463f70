/** Something about a set-up that an operator should know. */
export type Finding = {
  /** `error`: it can't work like this. `warning`: it works, and something is lost or gets worse. */
  readonly level: 'error' | 'warning';
  /** Stable, in snake_case. */
  readonly code: string;
  /** What is the matter, and what to set. */
  readonly sentence: string;
};

export const error = (code: string, sentence: string): Finding => ({ level: 'error', code, sentence });
export const warning = (code: string, sentence: string): Finding => ({ level: 'warning', code, sentence });
