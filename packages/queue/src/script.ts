export type ScriptArg = string | number;

/** Runs a Lua script in one slot: the keys, then the arguments. What it replies is input, and the caller parses it. */
export type Script = (keys: readonly string[], args: readonly ScriptArg[]) => Promise<unknown>;

/** Makes a Lua script callable, under a name that is unique among the scripts of one client. */
export type DefineScript = (name: string, lua: string) => Script;
