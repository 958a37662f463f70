import { RINGS, type QueueKeys } from '../queue-keys.ts';
import type { DefineScript } from '../script.ts';

export const PAUSE_LUA = /* lua */ `#!lua flags=allow-oom
-- Pauses the queue, except its express groups, or lets it go on and wakes workers for the groups that are ready.
-- KEYS[1] settings (hash)   KEYS[2..5] rings (zset)   KEYS[6..9] their wake marks (zset)
-- ARGV[1] '1' to pause, '0' to go on
-- Returns 1 or 0, without meaning.
if ARGV[1] == '1' then return redis.call('HSET', KEYS[1], 'paused', '1') end
redis.call('HDEL', KEYS[1], 'paused')
for index = 0, 3 do
  if redis.call('EXISTS', KEYS[2 + index]) == 1 then redis.call('ZADD', KEYS[6 + index], 0, '0') end
end
return 1
`;

export function createPause(defineScript: DefineScript, { settings, ready, wake }: QueueKeys) {
  const pause = defineScript('queuePause', PAUSE_LUA);
  const keys = [settings, ...RINGS.map(ready), ...RINGS.map(wake)];
  return async (isPaused: boolean): Promise<void> => {
    await pause(keys, [isPaused ? '1' : '0']);
  };
}
