/** Commands on a key; `<key>` stands for its name. */
const KEYED = [
  'BITFIELD <key> INCRBY u8 0 1, BZPOPMIN <key> 1, DEL <key>, EXISTS <key>, GET <key>, GETRANGE <key> 0 1, HDEL <key> f, HEXISTS <key> f, HGET <key> f',
  'HGETALL <key>, HINCRBY <key> f 1, HKEYS <key>, INCRBY <key> 1, HLEN <key>, HMGET <key> f, HSET <key> f v, HSTRLEN <key> f, HSETNX <key> f v',
  'LINDEX <key> 0, LLEN <key>, LPOS <key> v, LRANGE <key> 0 1, LSET <key> 0 v, LTRIM <key> 0 1, PERSIST <key>',
  'PEXPIRE <key> 1, PEXPIREAT <key> 1, PEXPIRETIME <key>, PTTL <key>, RENAME <key> <key>',
  'RPUSH <key> v, SET <key> v, SETRANGE <key> 0 v, UNLINK <key>, ZADD <key> 1 v, ZCARD <key>, ZCOUNT <key> 0 1, ZINCRBY <key> 1 v, ZMSCORE <key> v, ZPOPMIN <key>',
  'ZRANGE <key> 0 1, ZRANGEBYSCORE <key> 0 1, ZREM <key> v, ZREMRANGEBYRANK <key> 0 1, ZREMRANGEBYSCORE <key> 0 1',
  'XADD <key> * f v, XDEL <key> 1, XINFO STREAM <key>, XLEN <key>, XRANGE <key> - +, XREVRANGE <key> + -, ZSCORE <key> v',
].flatMap((line) => line.split(', '));
const KEYLESS = ['DBSIZE', 'INFO', 'PING', 'SCAN 0', 'TIME'];
/** The channels tell the API how a test event ended. */
export const ON_CHANNELS = ['PUBLISH herald:test:x v', 'SUBSCRIBE herald:test:x'];

/**
 * Every command that an API or a worker sends, also in its scripts, except those that run scripts.
 * @param waits whether writes wait until replicas have them
 * @param keys each command on a key is listed for each of these
 */
export function listNeededCommands(waits: boolean, keys: readonly string[]): string[] {
  const keyed = keys.flatMap((key) => KEYED.map((command) => command.replaceAll('<key>', key)));
  return [...keyed, ...KEYLESS, ...(waits ? ['WAIT 1 1'] : []), ...ON_CHANNELS];
}
