/** What a command uses of its process. */
export type Terminal = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Prints a line. */
  readonly say: (line: string) => void;
  /** Prints a line to standard error. */
  readonly warn: (line: string) => void;
  /** Epoch ms. */
  readonly now: () => number;
};
