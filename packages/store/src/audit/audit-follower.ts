import { z } from 'zod';
import type { ShardKeys } from '../keyspace/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { defineScript } from '../scripts/script.ts';
import { readAuditRow, type AuditEntry } from './audit-trail.ts';

/** What goes on with entries: `log` tells those of the CLI, `history` takes all. */
export type AuditFollowing = 'log' | 'history';

export type AuditStep = {
  readonly entries: readonly AuditEntry[];
  /** The last entry that the follower had before; '' for none. */
  readonly from: string;
};

const ADVANCE_LUA = /* lua */ `
-- Note how far a follower is, unless another process has gone on from the same place.
-- KEYS[1] followers (hash)   ARGV[1] its name   ARGV[2] the id it went on from, or ''   ARGV[3] the id it is at
-- Returns 1 | 0.
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
`;

/** Follows the trail of a shard, from where any process has left it. Entries that have gone meanwhile are passed over. */
export function createAuditFollower({ redis, keys }: { readonly redis: RedisClient; readonly keys: ShardKeys }) {
  const advance = defineScript(redis, ADVANCE_LUA);
  return {
    /** The next entries, the oldest first. */
    async next(following: AuditFollowing, limit: number): Promise<AuditStep> {
      const from = (await redis.hget(keys.auditFollowers, following)) ?? '';
      const rows = await redis.xrange(keys.audit, from === '' ? '-' : `(${from}`, '+', 'COUNT', limit);
      return { entries: rows.map(readAuditRow), from };
    },
    /** False when another process has taken these entries. */
    async advance(following: AuditFollowing, { entries, from }: AuditStep): Promise<boolean> {
      const reply = await advance([keys.auditFollowers], [following, from, entries.at(-1)?.id ?? from]);
      return z.number().parse(reply) === 1;
    },
  };
}
export type AuditFollower = ReturnType<typeof createAuditFollower>;
