/** Stands for a key of each of the places in which Herald has keys. */
const KEY = '<key>';

/** With the name of a key first; of several keys, all in one place. */
const KEYED = [
  ...['BZPOPMIN <key> 1', 'DEL <key>', 'EXISTS <key>', 'GET <key>', 'HDEL <key> f', 'HEXISTS <key> f', 'HGET <key> f'],
  ...['HGETALL <key>', 'HINCRBY <key> f 1', 'HLEN <key>', 'HMGET <key> f', 'HSET <key> f v', 'HSETNX <key> f v'],
  ...['LINDEX <key> 0', 'LLEN <key>', 'LPOS <key> v', 'LRANGE <key> 0 1', 'LTRIM <key> 0 1', 'PERSIST <key>'],
  ...['PEXPIRE <key> 1', 'PTTL <key>', 'RPUSH <key> v', 'SET <key> v', 'UNLINK <key>', 'ZADD <key> 1 v', 'ZCARD <key>'],
  ...['ZCOUNT <key> 0 1', 'ZPOPMIN <key>', 'ZRANGE <key> 0 1', 'ZRANGEBYSCORE <key> 0 1', 'ZREM <key> v'],
  ...['ZREMRANGEBYRANK <key> 0 1', 'ZREMRANGEBYSCORE <key> 0 1', 'ZSCORE <key> v'],
];
const KEYLESS = ['DBSIZE', 'INFO', 'PING', 'SCAN 0', 'TIME'];
/** What tells the API how a test event ended. */
const CHANNELED = ['PUBLISH herald:test:x v', 'SUBSCRIBE herald:test:x'];

export type NeededCommand = {
  readonly words: readonly [name: string, ...rest: string[]];
  readonly isOnChannel: boolean;
};

/** Every command that an API or a worker sends, in its scripts too, but for those that run scripts. */
export function listNeededCommands({ waits }: { readonly waits: boolean }, keys: readonly string[]): NeededCommand[] {
  const keyed = keys.flatMap((key) => KEYED.map((text) => toWords(text, key)));
  const keyless = [...KEYLESS, ...(waits ? ['WAIT 1 1'] : [])].map((text) => toWords(text));
  return [
    ...[...keyed, ...keyless].map((words) => ({ words, isOnChannel: false })),
    ...CHANNELED.map((text) => ({ words: toWords(text), isOnChannel: true })),
  ];
}

function toWords(text: string, key = ''): NeededCommand['words'] {
  const [name = '', ...rest] = text.split(' ').map((word) => (word === KEY ? key : word));
  return [name, ...rest];
}
