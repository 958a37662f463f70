/** Runs a Lua script in one slot with keys and arguments. The reply is outside input: the caller parses it. */
export type Script = (keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>;

/** Makes a Lua script callable. Its name tells it apart from the others. */
export type DefineScript = (name: string, lua: string) => Script;

/** Access to one queue in Redis. */
export type QueueAccess = {
  /** Prefix of all keys of the queue. Carries a hash tag, such as `{a}:`. */
  readonly prefix: string;
  /** Defines scripts on a connection that never blocks. */
  readonly defineScript: DefineScript;
  /** Redis' time, which all processes share, epoch ms. */
  readonly now: () => number;
};
