/** A connection of its own, on which a command may block. */
export type WaitConnection = {
  /** BZPOPMIN: the key, the member and its score; null when the time is over. */
  readonly bzpopmin: (keys: string[], seconds: number) => Promise<[string, string, string] | null>;
  /** Ends whatever blocks, which rejects. */
  readonly disconnect: () => void;
  readonly connect: () => Promise<void>;
};
